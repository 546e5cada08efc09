-- A gate on a partitioned table, or on one partition: a row-level trigger. PostgreSQL adds it to every partition, even
-- to a partition that is created or attached later, and fires it for inserts directly into a partition. The row takes a
-- number before the gate runs. Takes SHARE ROW EXCLUSIVE on the table and its partitions.
-- {table}  the table
-- {switch} the sequence with the end
CREATE TRIGGER qmon_gate BEFORE INSERT ON {table}
FOR EACH ROW
WHEN (pg_sequence_last_value({switch!literal}::regclass) > date_part('epoch', clock_timestamp()) * 1000)
EXECUTE FUNCTION qmon.gate({switch!literal})
