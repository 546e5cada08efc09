-- The gate of a table, if the table has one: the trigger, and the sequence that the trigger reads.
-- {table}        the table
-- :trigger      its name
-- > gate_schema  of the sequence
-- > gate_name    the sequence
-- > enabled      the trigger fires, in every partition
SELECT CAST(n.nspname AS text)  AS gate_schema,
       CAST(c.relname AS text)  AS gate_name,
       NOT EXISTS (
           WITH RECURSIVE copies AS (
               SELECT t.oid, t.tgenabled
               UNION ALL
               SELECT p.oid, p.tgenabled
               FROM copies AS c
               JOIN pg_catalog.pg_trigger AS p ON p.tgparentid = c.oid
           )
           SELECT FROM copies AS c WHERE c.tgenabled NOT IN ('O', 'A')
       )                        AS enabled
FROM pg_catalog.pg_trigger AS t
JOIN pg_catalog.pg_depend AS d
    ON d.classid = CAST('pg_trigger' AS regclass) AND d.objid = t.oid AND d.refclassid = CAST('pg_class' AS regclass)
JOIN pg_catalog.pg_class AS c ON c.oid = d.refobjid AND c.relkind = 'S'
JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
WHERE t.tgrelid = to_regclass({table!literal})
  AND t.tgname = CAST(:trigger AS name)
  AND t.tgparentid = 0
