-- Sets a switch of an installed queue: the time until which a side is paused; a past time resumes.
-- {switch}  the table that holds the end
-- :side     producers or consumers
-- :until_ms milliseconds since the epoch
-- > until_ms its current value
SET NOCOUNT ON;
DECLARE @until_ms bigint, @side varchar(10);
SELECT @until_ms = :until_ms, @side = :side;
UPDATE {switch}
SET until_utc = DATEADD(
    MILLISECOND, @until_ms % 60000, DATEADD(MINUTE, @until_ms / 60000, CONVERT(datetime2(3), '19700101'))
)
WHERE side = CASE @side WHEN 'producers' THEN 0 ELSE 1 END;
SELECT @until_ms AS until_ms WHERE @@ROWCOUNT = 1;
