-- Fault: lock the slots of the next messages of a ring, until the transaction ends, on a server without sequences.
-- {table}    the ring
-- {slot}     column: the slot
-- {pop_seq}  the table of pop numbers
-- {size!int} slots
-- :rows      number of rows
-- > held     slots locked
SET NOCOUNT ON;
DECLARE @last bigint, @rows int;
SET @rows = :rows;
SET @last = CAST(IDENT_CURRENT({pop_seq!literal}) AS bigint);
DECLARE @next TABLE (qmon_slot int NOT NULL PRIMARY KEY);
INSERT INTO @next (qmon_slot)
SELECT {slot}
FROM {table} WITH (NOLOCK)
WHERE ({slot} + {size!int} - 1 - @last % {size!int}) % {size!int} < @rows;
SELECT CAST(COUNT(*) AS int) AS held
FROM @next AS n
INNER LOOP JOIN {table} AS q WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK) ON q.{slot} = n.qmon_slot
OPTION (MAXDOP 1);
