-- A gate: a trigger that refuses to insert while the producers are paused.
-- Before 2012: error 50000 whose text begins with QM001. Pauses do not stop qmon's own actions.
-- The server refuses INSERT … OUTPUT without INTO on a table with a gate (error 334). The gate does not stop bulk loads
-- without FIRE_TRIGGERS. It does not stop replication, because the publishing server has already accepted the row.
-- Takes Sch-M on the table.
-- {table} the table
-- {gate}  the trigger
CREATE TRIGGER {gate} ON {table}
AFTER INSERT
NOT FOR REPLICATION
AS
BEGIN
    SET NOCOUNT ON;
    DECLARE @until datetime2(3), @text nvarchar(2000);
    SET @until = (
        SELECT g.until_utc
        FROM qmon.gates AS g WITH (NOLOCK)
        WHERE g.trigger_id = @@PROCID
            AND g.until_utc > SYSUTCDATETIME()
    );
    IF @until IS NULL OR APP_NAME() IN (N'qmon requeue', N'qmon repair', N'qmon undo') RETURN;
    SET @text = N'QM001: the producers of ' + {table!literal} + N' are paused until '
        + CONVERT(nvarchar(19), @until, 120) + N' UTC; the transaction is rolled back, try again later';
    ROLLBACK TRANSACTION;
    RAISERROR (N'%s', 16, 1, @text);
END;
