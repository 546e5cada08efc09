-- Pops batches until the slice ends, each in a separate transaction, for designs without complete. Otherwise like
-- pop_loop.sql.
-- {loop}      the procedure
-- {pop_batch} procedure of the design
-- {found}     type: its result
-- {popped}    gate: counts popped messages
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
    DECLARE @found {found}, @count int, @drawn bigint;
    DECLARE @pause_ms int, @delay char(12);
    SELECT
        @end = DATEADD(
            MILLISECOND,
            CONVERT(int, (@until - FLOOR(@until / 86400) * 86400) * 1000),
            DATEADD(DAY, CONVERT(int, FLOOR(@until / 86400)), CONVERT(datetime2(7), '19700101'))
        ),
        @now = SYSUTCDATETIME(), @messages = 0, @missed = 0, @failed = 0, @error = N'',
        @spent = CONVERT(binary(768), 0), @pause_ms = 1;
    WHILE @now < @end
    BEGIN
        BEGIN TRY
            SET @began = SYSUTCDATETIME();
            INSERT INTO @found
            EXEC {pop_batch} @limit = @batch;
            SET @now = SYSUTCDATETIME();
            SET @count = (SELECT COUNT(*) FROM @found);
            DELETE FROM @found;
            IF @count = 0
            BEGIN
                SET @missed = @missed + 1;
                SET @delay = '00:00:00.' + RIGHT('00' + CONVERT(varchar(3), @pause_ms), 3);
                WAITFOR DELAY @delay;
                SELECT @pause_ms = CASE WHEN @pause_ms < 16 THEN @pause_ms * 2 ELSE 16 END, @now = SYSUTCDATETIME();
                CONTINUE;
            END;
            SET @pause_ms = 1;
            SET @at = 4 * CONVERT(int, FLOOR(11.54156 * LOG(1.0 + CASE
                WHEN @now <= @began THEN 0
                WHEN DATEDIFF(SECOND, @began, @now) > 15 THEN 15000000
                ELSE DATEDIFF(MICROSECOND, @began, @now)
            END)));
            SET @spent = STUFF(@spent, @at + 1, 4, CONVERT(binary(4), CONVERT(int, SUBSTRING(@spent, @at + 1, 4)) + 1));
            SELECT @messages = @messages + @count, @carry = @carry + @count;
            WHILE @carry >= @unit
            BEGIN
                SET @drawn = NEXT VALUE FOR {popped};
                SET @carry = @carry - @unit;
            END;
        END TRY
        BEGIN CATCH
            IF XACT_STATE() <> 0 ROLLBACK TRANSACTION;
            SELECT @failed = @failed + 1, @error = ERROR_MESSAGE();
            DELETE FROM @found;
            WAITFOR DELAY '00:00:00.010';
            SET @now = SYSUTCDATETIME();
        END CATCH;
    END;
    SELECT
        @carry AS carry, @messages AS messages, @missed AS missed, @spent AS spent, CONVERT(binary(768), 0) AS completed,
        @failed AS failed, @error AS error;
END;
