-- A gate: a trigger that refuses INSERT and COPY while the producers are paused. It fires once per statement. Without a
-- pause, it only compares two numbers. Takes SHARE ROW EXCLUSIVE on the table.
-- {table}  the table
-- {switch} the sequence with the end
CREATE TRIGGER qmon_gate BEFORE INSERT ON {table}
FOR EACH STATEMENT
WHEN (pg_sequence_last_value({switch!literal}::regclass) > date_part('epoch', clock_timestamp()) * 1000)
EXECUTE FUNCTION qmon.gate({switch!literal})
