-- A gate on a partitioned table, or on one partition: a trigger for each row, which PostgreSQL gives every partition,
-- also one that is created or attached later, and asks for inserts straight into one. A number is drawn before the gate
-- runs. Takes SHARE ROW EXCLUSIVE on the table and its partitions.
-- {table}  the table
-- {switch} the sequence with the end
CREATE TRIGGER qmon_gate BEFORE INSERT ON {table}
FOR EACH ROW
WHEN (pg_sequence_last_value({switch!literal}::regclass) > date_part('epoch', clock_timestamp()) * 1000)
EXECUTE FUNCTION qmon.gate({switch!literal})
