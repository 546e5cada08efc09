-- Give the empty pages of the heap back, and make of forwarded rows ordinary ones. Stops producers and consumers while
-- it runs, but for editions that rebuild online (Enterprise, Developer, Azure): a quiet moment with a small backlog
-- takes milliseconds. Not in a transaction, because it would keep its lock. An addition.
-- {table}    the queue
-- {maintain} the procedure
CREATE PROCEDURE {maintain}
AS
BEGIN
    SET NOCOUNT ON;
    IF @@TRANCOUNT > 0
    BEGIN
        RAISERROR (N'maintain cannot run inside a transaction', 16, 1);
        RETURN;
    END;
    IF CAST(SERVERPROPERTY('EngineEdition') AS int) IN (3, 5, 8)
        ALTER TABLE {table} REBUILD WITH (ONLINE = ON);
    ELSE
        ALTER TABLE {table} REBUILD;
END;
