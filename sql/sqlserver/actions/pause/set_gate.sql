-- Sets the switch of a gate: the time until which inserts into the table are refused; a past time resumes.
-- {gate}     the trigger
-- :until_ms milliseconds since the epoch
-- > until_ms its current value
SET NOCOUNT ON;
DECLARE @until_ms bigint;
SET @until_ms = :until_ms;
UPDATE qmon.gates
SET until_utc = DATEADD(
    MILLISECOND, @until_ms % 60000, DATEADD(MINUTE, @until_ms / 60000, CONVERT(datetime2(3), '19700101'))
)
WHERE trigger_id = OBJECT_ID({gate!literal});
SELECT @until_ms AS until_ms WHERE @@ROWCOUNT = 1;
