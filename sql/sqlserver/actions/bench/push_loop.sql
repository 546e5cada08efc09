-- Pushes one message at a time until the slice ends, each in a separate transaction. See call.sql for the arguments and
-- results. A push is timed from before it begins until its commit is durable. Buckets of the histogram are an eighth of
-- an octave wide: an operation of t µs adds to the whole number of four bytes at floor(8 log2 (1 + t)), counted from 0;
-- what takes longer than 15 s counts as 15 s.
-- The producer checks the gate from time to time. If it is too far ahead of the consumers, it sleeps. This sleep does
-- not count as a push. A push that fails (a deadlock, a full ring) is rolled back and counted, and the loop continues
-- after 10 ms.
-- {loop}   the procedure
-- {push}   procedure of the design
-- {type}   the type of a message, without its length
-- {pushed} gate: counts pushed messages
-- {popped} gate: counts popped messages
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
    DECLARE @id bigint, @message {type}(max), @drawn bigint, @steps bigint, @pushed_id int, @popped_id int;
    SELECT
        @end = DATEADD(
            MILLISECOND,
            CONVERT(int, (@until - FLOOR(@until / 86400) * 86400) * 1000),
            DATEADD(DAY, CONVERT(int, FLOOR(@until / 86400)), CONVERT(datetime2(7), '19700101'))
        ),
        @now = SYSUTCDATETIME(), @messages = 0, @missed = 0, @failed = 0, @error = N'',
        @spent = CONVERT(binary(768), 0), @pushed_id = OBJECT_ID({pushed!literal}), @popped_id = OBJECT_ID({popped!literal});
    -- Half as many characters where each takes two bytes.
    SET @message = CONVERT({type}(max), REPLICATE(
        CONVERT(varchar(max), '0123456789abcdef'),
        1 + @bytes / 16
    ));
    SET @message = SUBSTRING(@message, 1, CASE
        WHEN @bytes < DATALENGTH(CONVERT({type}(max), 'x')) THEN 1
        ELSE @bytes / DATALENGTH(CONVERT({type}(max), 'x'))
    END);
    WHILE @now < @end
    BEGIN
        BEGIN TRY
            SELECT @id = NULL, @began = SYSUTCDATETIME();
            EXEC {push} @message, @id = @id OUTPUT, @quiet = 1;
            SET @now = SYSUTCDATETIME();
            IF @id IS NULL
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
            SELECT @messages = @messages + 1, @carry = @carry + 1;
            IF @carry >= @unit
            BEGIN
                SET @drawn = NEXT VALUE FOR {pushed};
                SET @carry = @carry - @unit;
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
            WAITFOR DELAY '00:00:00.010';
            SET @now = SYSUTCDATETIME();
        END CATCH;
    END;
    SELECT
        @carry AS carry, @messages AS messages, @missed AS missed, @spent AS spent, CONVERT(binary(768), 0) AS completed,
        @failed AS failed, @error AS error;
END;
