-- The smallest step of the server's clock, measured for a tenth of a second. It depends on the server's operating
-- system. Shorter times cannot be distinguished.
-- > step_us microseconds
SET NOCOUNT ON;
DECLARE @began datetime2(7), @last datetime2(7), @now datetime2(7), @steps int;
SELECT @steps = 0, @began = SYSUTCDATETIME();
SELECT @last = @began, @now = @began;
WHILE @now < DATEADD(MILLISECOND, 100, @began) OR @steps = 0
BEGIN
    SET @now = SYSUTCDATETIME();
    IF @now <> @last SELECT @steps = @steps + 1, @last = @now;
END;
SELECT CAST(DATEDIFF(MICROSECOND, @began, @now) / CAST(@steps AS float) AS float) AS step_us;
