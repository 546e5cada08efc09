-- Adds what one batch of an operation did, within the transaction of the batch. Touches no row where the operation is
-- over: then the batch must not be committed.
-- :done     rows touched
-- :skipped  rows left alone, since others had locked them
-- :changed  rows left alone, since they are no longer what the plan saw
-- :refused  rows left alone, since the server would not have it
-- :busy_s   seconds that the batch took
-- :id       the operation
-- > done    rows of qmon's table changed: 1, or 0
SET NOCOUNT ON;
UPDATE qmon.operations
SET done = done + CAST(:done AS bigint), skipped = skipped + CAST(:skipped AS bigint),
    changed = changed + CAST(:changed AS bigint), refused = refused + CAST(:refused AS bigint),
    busy_s = busy_s + CAST(:busy_s AS float)
WHERE id = CAST(:id AS varchar(40)) AND state = 'running';
SELECT @@ROWCOUNT AS done
