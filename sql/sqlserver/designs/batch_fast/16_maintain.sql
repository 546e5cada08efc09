-- Index maintenance under load, the reason why the article splits the table. An addition.
-- @rebuild = 0: REORGANIZE, page by page, online in every edition; it can be stopped at any time without losing its
-- progress.
-- @rebuild = 1: REBUILD, online, which Enterprise, Developer and Azure editions can (refused with a message in
-- others); for SQL Server before 2012 not with the payload's LOB column. Its short locks at the beginning and the end
-- wait for running transactions, and others wait behind them: run it while no long transaction is open.
-- Not in a transaction: it would hold its locks until the end.
-- {table}    QueueMeta
-- {data}     QueueData
-- {maintain} the procedure
CREATE PROCEDURE {maintain}
    @rebuild bit = 0
AS
BEGIN
    SET NOCOUNT ON;
    IF @@TRANCOUNT > 0
    BEGIN
        RAISERROR (N'maintain cannot run inside a transaction', 16, 1);
        RETURN;
    END;
    IF @rebuild = 0
    BEGIN
        ALTER INDEX ALL ON {table} REORGANIZE;
        ALTER INDEX ALL ON {data} REORGANIZE;
        RETURN;
    END;
    IF CAST(SERVERPROPERTY('EngineEdition') AS int) NOT IN (3, 5, 8)
    BEGIN
        RAISERROR (N'this edition cannot rebuild indexes online; use @rebuild = 0 to reorganize them', 16, 1);
        RETURN;
    END;
    ALTER INDEX ALL ON {table} REBUILD WITH (
        STATISTICS_NORECOMPUTE = ON,
        ONLINE = ON
    );
    ALTER INDEX ALL ON {data} REBUILD WITH (
        STATISTICS_NORECOMPUTE = ON,
        ONLINE = ON
    );
END;
