-- Deletes rows of one operation from a trash: rows that were there when the rows were counted.
-- {trash}       the table
-- :operation    the operation
-- :before       only messages that came until then, seconds since the epoch
-- :limit        maximum number of rows
DELETE FROM {trash}
WHERE ctid = ANY (ARRAY(
    SELECT q.ctid
    FROM {trash} AS q
    WHERE q.qmon_operation = CAST(:operation AS text)
      AND q.qmon_trashed_at < to_timestamp(CAST(:before AS float8))
    LIMIT :limit
    FOR UPDATE SKIP LOCKED
))
