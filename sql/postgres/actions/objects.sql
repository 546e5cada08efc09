-- The given names that exist in a schema, with their kinds, and the schema itself, if it exists.
-- :schema  the schema
-- :names   the names, as a JSON array
-- > kind   schema, table, view, index, sequence, type, function or procedure
-- > name   its name
WITH wanted AS MATERIALIZED (
    SELECT w.name
    FROM jsonb_array_elements_text(CAST(:names AS jsonb)) AS w(name)
),
home AS MATERIALIZED (
    SELECT n.oid, n.nspname
    FROM pg_catalog.pg_namespace AS n
    WHERE n.nspname = :schema
)
SELECT 'schema' AS kind, CAST(h.nspname AS text) AS name
FROM home AS h
UNION ALL
SELECT
    CASE c.relkind
        WHEN 'i' THEN 'index'
        WHEN 'I' THEN 'index'
        WHEN 'S' THEN 'sequence'
        WHEN 'v' THEN 'view'
        WHEN 'm' THEN 'view'
        WHEN 'c' THEN 'type'
        ELSE 'table'
    END,
    CAST(c.relname AS text)
FROM pg_catalog.pg_class AS c
JOIN home AS h ON h.oid = c.relnamespace
WHERE CAST(c.relname AS text) IN (SELECT w.name FROM wanted AS w)
UNION ALL
SELECT DISTINCT CASE p.prokind WHEN 'p' THEN 'procedure' ELSE 'function' END, CAST(p.proname AS text)
FROM pg_catalog.pg_proc AS p
JOIN home AS h ON h.oid = p.pronamespace
WHERE CAST(p.proname AS text) IN (SELECT w.name FROM wanted AS w)
UNION ALL
SELECT 'type', CAST(t.typname AS text)
FROM pg_catalog.pg_type AS t
JOIN home AS h ON h.oid = t.typnamespace
WHERE CAST(t.typname AS text) IN (SELECT w.name FROM wanted AS w)
    AND t.typrelid = 0
    AND t.typelem = 0
ORDER BY 1, 2
