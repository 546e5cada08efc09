-- Pushes batches until the slice ends, each in a separate transaction; otherwise like push_loop.sql. The result of the
-- design goes into a table variable: otherwise the server would send it to us.
-- {loop}       the procedure
-- {push_batch} procedure of the design
-- {messages}   type: its argument
-- {type}       the type of a message, without its length
-- {pushed}     gate: counts pushed messages
-- {popped}     gate: counts popped messages
CREATE PROCEDURE {loop}
    @until float,
    @batch int,
    @unit bigint,
    @ahead bigint,
    @bytes int,
    @carry bigint
AS
BEGIN
    SET NOCOUNT ON;
    DECLARE @end datetime2(7), @began datetime2(7), @now datetime2(7), @at int;
    DECLARE @messages bigint, @missed bigint, @failed int, @error nvarchar(400), @spent binary(768);
    DECLARE @message {type}(max), @batch_of {messages};
    DECLARE @ids TABLE (id bigint NULL);
    DECLARE @count int, @drawn bigint, @steps bigint, @pushed_id int, @popped_id int;
    SELECT
        @end = DATEADD(
            MILLISECOND,
            CONVERT(int, (@until - FLOOR(@until / 86400) * 86400) * 1000),
            DATEADD(DAY, CONVERT(int, FLOOR(@until / 86400)), CONVERT(datetime2(7), '19700101'))
        ),
        @now = SYSUTCDATETIME(), @messages = 0, @missed = 0, @failed = 0, @error = N'',
        @spent = CONVERT(binary(768), 0), @pushed_id = OBJECT_ID({pushed!literal}), @popped_id = OBJECT_ID({popped!literal}), @count = 0;
    -- Half as many characters where each takes two bytes.
    SET @message = CONVERT({type}(max), REPLICATE(
        CONVERT(varchar(max), '0123456789abcdef'),
        1 + @bytes / 16
    ));
    SET @message = SUBSTRING(@message, 1, CASE
        WHEN @bytes < DATALENGTH(CONVERT({type}(max), 'x')) THEN 1
        ELSE @bytes / DATALENGTH(CONVERT({type}(max), 'x'))
    END);
    WHILE @count < @batch
    BEGIN
        SET @count = @count + 1;
        INSERT INTO @batch_of (position, payload) VALUES (@count, @message);
    END;
    WHILE @now < @end
    BEGIN
        BEGIN TRY
            SET @began = SYSUTCDATETIME();
            INSERT INTO @ids (id)
            EXEC {push_batch} @messages = @batch_of;
            SET @now = SYSUTCDATETIME();
            SET @count = (SELECT COUNT(*) FROM @ids);
            DELETE FROM @ids;
            IF @count = 0
            BEGIN
                SET @missed = @missed + 1;
                CONTINUE;
            END;
            SET @at = 4 * CONVERT(int, FLOOR(11.54156 * LOG(1.0 + CASE
                WHEN @now <= @began THEN 0
                WHEN DATEDIFF(SECOND, @began, @now) > 15 THEN 15000000
                ELSE DATEDIFF(MICROSECOND, @began, @now)
            END)));
            SET @spent = STUFF(@spent, @at + 1, 4, CONVERT(binary(4), CONVERT(int, SUBSTRING(@spent, @at + 1, 4)) + 1));
            SELECT @messages = @messages + @count, @carry = @carry + @count;
            IF @carry >= @unit
            BEGIN
                WHILE @carry >= @unit
                BEGIN
                    SET @drawn = NEXT VALUE FOR {pushed};
                    SET @carry = @carry - @unit;
                END;
                WHILE SYSUTCDATETIME() < @end
                BEGIN
                    SET @steps = (
                        SELECT SUM(CONVERT(bigint, s.current_value) * CASE s.object_id WHEN @pushed_id THEN 1 ELSE -1 END)
                        FROM sys.sequences AS s
                        WHERE s.object_id IN (@pushed_id, @popped_id)
                    );
                    IF @steps <= @ahead BREAK;
                    WAITFOR DELAY '00:00:00.010';
                END;
                SET @now = SYSUTCDATETIME();
            END;
        END TRY
        BEGIN CATCH
            IF XACT_STATE() <> 0 ROLLBACK TRANSACTION;
            SELECT @failed = @failed + 1, @error = ERROR_MESSAGE();
            DELETE FROM @ids;
            WAITFOR DELAY '00:00:00.010';
            SET @now = SYSUTCDATETIME();
        END CATCH;
    END;
    SELECT
        @carry AS carry, @messages AS messages, @missed AS missed, @spent AS spent, CONVERT(binary(768), 0) AS completed,
        @failed AS failed, @error AS error;
END;
