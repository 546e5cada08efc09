-- A transaction that stays open. If the database allows snapshots, it is a snapshot transaction, and older row versions
-- cannot be removed until it ends. Otherwise it only prevents the truncation of the log.
-- {table}  the queue's table
-- > opened levels of transactions that are open in this session
SET NOCOUNT ON;
DECLARE @allowed tinyint, @rows int;
SET @allowed = (SELECT d.snapshot_isolation_state FROM sys.databases AS d WHERE d.name = DB_NAME());
-- With implicit transactions, the SELECT has opened one, and an open transaction cannot become a snapshot.
IF @@TRANCOUNT > 0 COMMIT TRANSACTION;
IF @allowed = 1 SET TRANSACTION ISOLATION LEVEL SNAPSHOT;
BEGIN TRANSACTION;
IF @allowed = 1
    SET @rows = (SELECT COUNT(*) FROM (SELECT TOP (1) 1 AS one FROM {table}) AS t);
SELECT @@TRANCOUNT AS opened;
