-- The newest committed id, for a standby, which has no positions of sequences. Read from the end of an index.
-- {table}   the queue's table
-- {message_id} column: the id
-- > last_id the greatest id; NULL if there is no row
SELECT CAST(max({message_id}) AS bigint) AS last_id FROM {table}
