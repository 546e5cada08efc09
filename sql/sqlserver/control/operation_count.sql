-- Adds the counts of one batch to an operation, within the transaction of the batch. Changes no row if the operation is
-- over or another login began it: the batch must not be committed then.
-- :done     rows touched
-- :skipped  rows left alone, since others had locked them
-- :changed  rows skipped because they changed after the plan
-- :refused  rows left alone, since the server would not have it
-- :busy_s   seconds that the batch took
-- :id       the operation
-- > done    rows of qmon's table changed: 1, or 0
DECLARE @id varchar(40) = :id, @done bigint = :done, @skipped bigint = :skipped, @changed bigint = :changed;
DECLARE @refused bigint = :refused, @busy_s float = :busy_s;
EXEC qmon.operation_count @id = @id, @done = @done, @skipped = @skipped, @changed = @changed, @refused = @refused,
                          @busy_s = @busy_s
