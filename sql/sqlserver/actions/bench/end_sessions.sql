-- Ends the remaining sessions of the load. KILL accepts no parameter, so its text contains the number.
-- :prefix prefix of their application names
-- > ended number of sessions that were asked to end
SET NOCOUNT ON;
DECLARE @prefix nvarchar(128), @session int, @ended int, @text nvarchar(40);
SELECT @prefix = CAST(:prefix AS nvarchar(128)), @session = 0, @ended = 0;
WHILE @session IS NOT NULL
BEGIN
    SET @session = (
        SELECT MIN(s.session_id)
        FROM sys.dm_exec_sessions AS s
        WHERE s.session_id > @session
            AND s.session_id <> @@SPID
            AND LEFT(s.program_name, DATALENGTH(@prefix) / 2) COLLATE Latin1_General_BIN2
                = @prefix COLLATE Latin1_General_BIN2
    );
    IF @session IS NULL BREAK;
    SELECT @ended = @ended + 1, @text = N'KILL ' + CONVERT(nvarchar(11), @session);
    BEGIN TRY
        EXEC sys.sp_executesql @text;
    END TRY
    BEGIN CATCH
        -- The session ended by itself. Without the right to end it, the next step finds the schema in use.
        SET @ended = @ended - 1;
    END CATCH;
END;
SELECT @ended AS ended;
