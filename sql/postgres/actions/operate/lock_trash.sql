-- Locks those of some rows of the trash that are still there; passes over what others have locked.
-- {table}    the trash
-- {id?}      column: the id
-- :tids      where the rows lie, an array as text
-- :keys      likewise, and in which partition
-- :versions  which version of each is meant, an array as text
-- > key      where a row lies that is still what the plan saw
-- > locked   we have locked it; otherwise somebody else has
WITH wanted AS MATERIALIZED (
    SELECT w.qmon_key, w.qmon_version
    FROM unnest(CAST(:keys AS text[]), CAST(:versions AS text[])) AS w(qmon_key, qmon_version)
),
same AS MATERIALIZED (
    SELECT w.qmon_key
    FROM {table} AS q
    JOIN wanted AS w ON w.qmon_key = q.tableoid || CAST(q.ctid AS text)
        AND w.qmon_version = q.tableoid || '/' || CAST(q.xmin AS text) || '/' || coalesce(CAST({id?} AS text), '')
    WHERE q.ctid = ANY (CAST(:tids AS tid[]))
),
ours AS MATERIALIZED (
    SELECT w.qmon_key
    FROM {table} AS q
    JOIN wanted AS w ON w.qmon_key = q.tableoid || CAST(q.ctid AS text)
        AND w.qmon_version = q.tableoid || '/' || CAST(q.xmin AS text) || '/' || coalesce(CAST({id?} AS text), '')
    WHERE q.ctid = ANY (CAST(:tids AS tid[]))
    FOR UPDATE OF q SKIP LOCKED
)
SELECT s.qmon_key AS key, o.qmon_key IS NOT NULL AS locked
FROM same AS s
LEFT JOIN ours AS o ON o.qmon_key = s.qmon_key
