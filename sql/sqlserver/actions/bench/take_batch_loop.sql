-- Pops and completes batches until the slice ends, in two transactions each; otherwise like take_loop.sql.
-- {loop}           the procedure
-- {pop_batch}      procedure of the design
-- {complete_batch} procedure of the design
-- {found}          type: the result of pop_batch
-- {ids}            type: the argument of complete_batch
-- {popped}         gate: counts popped messages
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
    DECLARE @messages bigint, @missed bigint, @failed int, @error nvarchar(400), @spent binary(768), @completed binary(768);
    DECLARE @found {found}, @ids {ids}, @taken datetime2(7), @again datetime2(7), @count int, @done int, @drawn bigint;
    DECLARE @pause_ms int, @delay char(12);
    SELECT
        @end = DATEADD(
            MILLISECOND,
            CONVERT(int, (@until - FLOOR(@until / 86400) * 86400) * 1000),
            DATEADD(DAY, CONVERT(int, FLOOR(@until / 86400)), CONVERT(datetime2(7), '19700101'))
        ),
        @now = SYSUTCDATETIME(), @messages = 0, @missed = 0, @failed = 0, @error = N'',
        @spent = CONVERT(binary(768), 0), @completed = CONVERT(binary(768), 0), @pause_ms = 1;
    WHILE @now < @end
    BEGIN
        BEGIN TRY
            SET @began = SYSUTCDATETIME();
            INSERT INTO @found
            EXEC {pop_batch} @limit = @batch;
            SET @taken = SYSUTCDATETIME();
            INSERT INTO @ids (id, attempt) SELECT f.id, f.attempt FROM @found AS f;
            SET @count = @@ROWCOUNT;
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
            SET @again = SYSUTCDATETIME();
            EXEC {complete_batch} @ids = @ids, @done = @done OUTPUT, @quiet = 1;
            SET @now = SYSUTCDATETIME();
            SET @at = 4 * CONVERT(int, FLOOR(11.54156 * LOG(1.0 + CASE
                WHEN @taken <= @began THEN 0
                WHEN DATEDIFF(SECOND, @began, @taken) > 15 THEN 15000000
                ELSE DATEDIFF(MICROSECOND, @began, @taken)
            END)));
            SET @spent = STUFF(@spent, @at + 1, 4, CONVERT(binary(4), CONVERT(int, SUBSTRING(@spent, @at + 1, 4)) + 1));
            DELETE FROM @ids;
            SET @at = 4 * CONVERT(int, FLOOR(11.54156 * LOG(1.0 + CASE
                WHEN @now <= @again THEN 0
                WHEN DATEDIFF(SECOND, @again, @now) > 15 THEN 15000000
                ELSE DATEDIFF(MICROSECOND, @again, @now)
            END)));
            SET @completed = STUFF(@completed, @at + 1, 4, CONVERT(binary(4), CONVERT(int, SUBSTRING(@completed, @at + 1, 4)) + 1));
            SELECT @messages = @messages + @done, @carry = @carry + @count;
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
            DELETE FROM @ids;
            WAITFOR DELAY '00:00:00.010';
            SET @now = SYSUTCDATETIME();
        END CATCH;
    END;
    SELECT
        @carry AS carry, @messages AS messages, @missed AS missed, @spent AS spent, @completed AS completed,
        @failed AS failed, @error AS error;
END;
