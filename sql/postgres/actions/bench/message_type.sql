-- The type of message that a design's push takes.
-- :schema  the schema
-- :push    the name of the function
-- > home   the schema of the type
-- > name   the type
SELECT CAST(n.nspname AS text) AS home, CAST(t.typname AS text) AS name
FROM pg_catalog.pg_proc AS p
JOIN pg_catalog.pg_namespace AS h ON h.oid = p.pronamespace
JOIN pg_catalog.pg_type AS t ON t.oid = p.proargtypes[0]
JOIN pg_catalog.pg_namespace AS n ON n.oid = t.typnamespace
WHERE h.nspname = :schema
    AND p.proname = :push
