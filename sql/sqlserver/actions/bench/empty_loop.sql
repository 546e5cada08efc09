-- The empty driving loop: the cost of the driver itself.
-- {loop} the procedure
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
    SELECT
        @end = DATEADD(
            MILLISECOND,
            CONVERT(int, (@until - FLOOR(@until / 86400) * 86400) * 1000),
            DATEADD(DAY, CONVERT(int, FLOOR(@until / 86400)), CONVERT(datetime2(7), '19700101'))
        ),
        @now = SYSUTCDATETIME(), @messages = 0, @missed = 0, @failed = 0, @error = N'',
        @spent = CONVERT(binary(768), 0);
    WHILE @now < @end
    BEGIN
        BEGIN TRY
            SET @began = SYSUTCDATETIME();
            SET @now = SYSUTCDATETIME();
            SET @at = 4 * CONVERT(int, FLOOR(11.54156 * LOG(1.0 + CASE
                WHEN @now <= @began THEN 0
                WHEN DATEDIFF(SECOND, @began, @now) > 15 THEN 15000000
                ELSE DATEDIFF(MICROSECOND, @began, @now)
            END)));
            SET @spent = STUFF(@spent, @at + 1, 4, CONVERT(binary(4), CONVERT(int, SUBSTRING(@spent, @at + 1, 4)) + 1));
            SELECT @messages = @messages + 1, @carry = (@carry + 1) % @unit;
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
