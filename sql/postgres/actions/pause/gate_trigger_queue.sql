-- A gate for one queue of several in a table: a row-level trigger, which fires only if the row belongs to this queue,
-- as gate_queue has determined. The row takes a number before the gate runs. Takes SHARE ROW EXCLUSIVE on the table.
-- {table}    the table
-- {trigger}  the trigger
-- {queue}    column: the queue
-- {pushed?}  column: distinguishes pushed rows from restored rows
-- {switch}   the sequence with the end
DO $$
DECLARE
    v_queue  text := current_setting('qmon.gate_queue');
    v_pushed text := CAST({pushed?!literal} AS text);
BEGIN
    EXECUTE format(
        'CREATE TRIGGER %s BEFORE INSERT ON %s FOR EACH ROW'
        ' WHEN (NEW.%s = %L%s'
        ' AND pg_sequence_last_value(%L::regclass) > date_part(''epoch'', clock_timestamp()) * 1000)'
        ' EXECUTE FUNCTION qmon.gate(%L, %L)',
        {trigger!literal}, {table!literal}, {queue!literal}, v_queue,
        CASE WHEN v_pushed IS NULL THEN ''
             ELSE format(' AND NEW.%s = %L', v_pushed, current_setting('qmon.gate_pushed')) END,
        {switch!literal}, {switch!literal}, v_queue
    );
END
$$
