-- Possible holes and orphans in some slots of a ring; see action/repair/find_hole and find_orphan. Reads a fixed number
-- of slots by their key, whatever the depth, and takes no lock. An uncommitted push or pop counts as done, and a number
-- that its session could not use is among the spare ones: no session holds a number that is in neither place.
-- {table}          the ring's table
-- {spare}          its spare numbers: taken, and free for the next consumer
-- {slot}           column: the slot
-- {turn}           column: the turn
-- {message_id}     column: the message's number
-- {enqueued_at}    column: time when the slot was last written; in the future if it never was
-- {head_index}     the index that leads with the slot
-- :from_slot       look from this slot on
-- :to_slot         up to this one; no more than 1,000 slots are read
-- :push_sequence   id of the push sequence
-- :pop_sequences   ids of the pop sequences, separated by commas
-- :min_age_s       minimum seconds since the slot was last written
-- > from_slot      as asked
-- > push_last      last number taken by a producer; the sequence's first one looks as if it were not taken yet
-- > pop_last       last number that the consumers of every subscriber have taken, the same
-- > holes          numbers taken by producers without a message
-- > hole           the first of them
-- > orphans        messages whose number consumers have taken but not popped
-- > orphan         the first of them
-- > orphan_s       seconds since that was pushed
WITH drawn AS (
    SELECT
        s.object_id,
        CAST(s.current_value AS bigint) - CASE WHEN s.current_value = s.start_value THEN 1 ELSE 0 END AS last_number
    FROM sys.sequences AS s
),
popped AS (
    SELECT d.last_number, CAST(ROW_NUMBER() OVER (ORDER BY d.object_id) AS smallint) AS side
    FROM drawn AS d
    WHERE CHARINDEX(',' + CAST(d.object_id AS varchar(11)) + ',', ',' + CAST(:pop_sequences AS varchar(800)) + ',') > 0
),
-- No row if one of the sequences cannot be seen.
pos AS (
    SELECT p.last_number AS push_last, o.last_number AS pop_last
    FROM drawn AS p
    CROSS JOIN (SELECT MIN(x.last_number) AS last_number, COUNT(*) AS sides FROM popped AS x) AS o
    WHERE p.object_id = CAST(:push_sequence AS int)
        AND o.sides = 1 + DATALENGTH(CAST(:pop_sequences AS varchar(800)))
            - DATALENGTH(REPLACE(CAST(:pop_sequences AS varchar(800)), ',', ''))
),
seen AS (
    SELECT TOP (1000)
        CAST(q.{turn} AS bigint) AS qmon_turn,
        CAST(q.{message_id} AS bigint) AS qmon_id,
        {enqueued_at!moment.q} AS qmon_at
    FROM {table} AS q WITH (INDEX ({head_index}))
    WHERE q.{slot} BETWEEN CAST(:from_slot AS int) AND CAST(:to_slot AS int)
    ORDER BY q.{slot}
),
found AS (
    SELECT
        pos.push_last,
        pos.pop_last,
        s.qmon_at,
        CASE
            WHEN s.qmon_id IS NULL
                AND s.qmon_turn <= pos.push_last
                AND (s.qmon_at < a.latest OR s.qmon_at > SYSUTCDATETIME())
                AND NOT EXISTS (SELECT 1 FROM {spare} AS n WHERE n.side = 0 AND n.number = s.qmon_turn)
            THEN s.qmon_turn
        END AS hole,
        CASE
            WHEN s.qmon_turn = s.qmon_id + 1
                AND s.qmon_id <= pos.pop_last
                AND s.qmon_at < a.latest
                AND NOT EXISTS (
                    SELECT 1
                    FROM popped AS x
                    JOIN {spare} AS n ON n.side = x.side AND n.number = s.qmon_id
                )
            THEN s.qmon_id
        END AS orphan
    FROM pos
    CROSS JOIN (
        SELECT DATEADD(MILLISECOND, -CAST(CAST(:min_age_s AS float) * 1000 AS int), SYSUTCDATETIME()) AS latest
    ) AS a
    LEFT JOIN seen AS s ON 1 = 1
)
SELECT TOP (1)
    CAST(:from_slot AS int) AS from_slot,
    f.push_last,
    f.pop_last,
    CAST(COUNT(f.hole) OVER () AS int) AS holes,
    MIN(f.hole) OVER () AS hole,
    CAST(COUNT(f.orphan) OVER () AS int) AS orphans,
    MIN(f.orphan) OVER () AS orphan,
    CASE WHEN f.orphan IS NOT NULL THEN CAST(
        DATEDIFF(DAY, f.qmon_at, SYSUTCDATETIME()) * 86400.0
        + DATEDIFF(MILLISECOND, DATEADD(DAY, DATEDIFF(DAY, f.qmon_at, SYSUTCDATETIME()), f.qmon_at), SYSUTCDATETIME()) / 1000.0
    AS float) END AS orphan_s
FROM found AS f
ORDER BY CASE WHEN f.orphan IS NULL THEN 1 ELSE 0 END, f.orphan
OPTION (MAXDOP 1)
