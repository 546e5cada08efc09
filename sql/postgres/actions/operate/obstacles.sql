-- The effects of deleting or changing a row of the table, and obstacles to that.
-- {table}  the table
-- :state   the column of the state, if the state changes; otherwise NULL
-- > kind   cascade: another table's rows are deleted or changed with it; referred: another table's rows keep it from
--          being deleted; refers: it refers to another table; elsewhere: a partition that another server keeps; unique:
--          an index that covers the state; trigger: one that is on; on insert, update or delete: one that fires then;
--          before insert, update or delete: one that sees each row before; after update: one that fires after it; rule
--          insert, update or delete: a rule replaces the statement; uncounted: the server does not count the rows
--          that a session writes; too wide: why its rows do not fit into the trash
-- > name   the other table and the constraint, the trigger, the rule or the index
WITH tree AS MATERIALIZED (
    SELECT CAST({table!literal} AS regclass) AS part
    UNION
    SELECT p.relid
    FROM pg_catalog.pg_partition_tree(CAST({table!literal} AS regclass)) AS p
),
firing AS MATERIALIZED (
    SELECT CAST(t.tgname AS text) AS name, CAST(t.tgtype AS integer) AS does
    FROM tree
    JOIN pg_catalog.pg_trigger AS t ON t.tgrelid = tree.part
    WHERE NOT t.tgisinternal AND t.tgenabled IN ('O', 'A')
)
SELECT CASE WHEN k.confdeltype IN ('c', 'n', 'd') THEN 'cascade' ELSE 'referred' END AS kind,
       CASE WHEN k.confdeltype IN ('c', 'n', 'd') THEN CAST(CAST(k.conrelid AS regclass) AS text)
            ELSE CAST(CAST(k.conrelid AS regclass) AS text) || ' (' || k.conname || ')' END AS name
FROM tree
JOIN pg_catalog.pg_constraint AS k ON k.confrelid = tree.part AND k.contype = 'f' AND k.conparentid = 0
UNION
SELECT 'elsewhere', CAST(CAST(tree.part AS regclass) AS text)
FROM tree
JOIN pg_catalog.pg_class AS c ON c.oid = tree.part AND c.relkind = 'f'
UNION
SELECT 'refers', CAST(CAST(k.confrelid AS regclass) AS text)
FROM pg_catalog.pg_constraint AS k
WHERE k.contype = 'f' AND k.conrelid = CAST({table!literal} AS regclass)
UNION
SELECT 'unique', CAST(x.relname AS text)
FROM pg_catalog.pg_index AS i
JOIN pg_catalog.pg_class AS x ON x.oid = i.indexrelid
JOIN pg_catalog.pg_attribute AS a ON a.attrelid = i.indrelid AND a.attname = CAST(:state AS text)
WHERE i.indrelid = CAST({table!literal} AS regclass) AND (i.indisunique OR i.indisexclusion)
  AND (a.attnum = ANY (CAST(i.indkey AS int2[]))
       OR EXISTS (
           SELECT FROM pg_catalog.pg_depend AS d
           WHERE d.classid = CAST('pg_class' AS regclass) AND d.objid = i.indexrelid
             AND d.refclassid = CAST('pg_class' AS regclass) AND d.refobjid = i.indrelid AND d.refobjsubid = a.attnum
       ))
UNION
SELECT 'trigger', f.name
FROM firing AS f
UNION
SELECT 'on ' || e.event, f.name
FROM firing AS f
JOIN (VALUES (4, 'insert'), (8, 'delete'), (16, 'update')) AS e (bit, event) ON f.does & e.bit <> 0
UNION
SELECT 'uncounted', 'track_counts'
WHERE NOT CAST(current_setting('track_counts') AS boolean)
UNION
SELECT 'before ' || e.event, f.name
FROM firing AS f
JOIN (VALUES (4, 'insert'), (8, 'delete'), (16, 'update')) AS e (bit, event) ON f.does & e.bit <> 0
WHERE f.does & 3 = 3
UNION
SELECT 'after update', f.name
FROM firing AS f
WHERE f.does & 16 <> 0 AND f.does & 66 = 0
UNION
SELECT 'rule ' || e.event, CAST(r.rulename AS text)
FROM pg_catalog.pg_rewrite AS r
JOIN (VALUES ('2', 'update'), ('3', 'insert'), ('4', 'delete')) AS e (kind, event) ON CAST(r.ev_type AS text) = e.kind
WHERE r.ev_class = CAST({table!literal} AS regclass) AND r.ev_enabled IN ('O', 'A')
UNION
SELECT 'too wide',
       CASE WHEN w.columns + 3 > 1600
            THEN 'its ' || w.columns || ' columns and 3 of the trash are more than the 1600 that a table can have'
            ELSE 'its rows have ' || w.bytes || ' bytes or more with the columns of the trash, and the server stores 8160' END
FROM (
    -- A lower bound: without padding, without the bitmap of NULLs, and with empty texts. The trash adds 35 bytes.
    SELECT count(*) AS columns, 24 + coalesce(sum(CASE WHEN NOT a.attnotnull THEN 0 ELSE abs(a.attlen) END), 0) + 35 AS bytes
    FROM pg_catalog.pg_attribute AS a
    WHERE a.attrelid = CAST({table!literal} AS regclass) AND a.attnum > 0 AND NOT a.attisdropped
) AS w
WHERE w.columns + 3 > 1600 OR w.bytes > 8160
ORDER BY 1, 2
