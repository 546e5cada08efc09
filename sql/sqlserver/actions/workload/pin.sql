-- Fault: a transaction that stays open. If the database allows snapshots, it is a snapshot transaction, and older row
-- versions cannot be removed until it ends. Otherwise it is only open.
-- > opened levels of transactions that are open in this session
SET NOCOUNT ON;
DECLARE @allowed tinyint, @queues int;
SET @allowed = (SELECT d.snapshot_isolation_state FROM sys.databases AS d WHERE d.name = DB_NAME());
-- With implicit transactions, the SELECT has opened one, and an open transaction cannot become a snapshot.
IF @@TRANCOUNT > 0 COMMIT TRANSACTION;
IF @allowed = 1 SET TRANSACTION ISOLATION LEVEL SNAPSHOT;
BEGIN TRANSACTION;
SET @queues = (SELECT COUNT(*) FROM qmon.queues);
SELECT @@TRANCOUNT AS opened;
