-- Rows of these tables that row level security hides from our role, and columns that an extension masks for it,
-- by its security labels of role and column. Reads no table.
-- :tables       table ids as an array, {1,2}
-- > table_id    one of these
-- > column_name a column that is masked for our role; NULL: rows are hidden
-- > why         the reason why they are hidden
-- > helps       who can see all rows or values
WITH masking AS MATERIALIZED (
    SELECT DISTINCT l.provider
    FROM pg_catalog.pg_shseclabel AS l
    JOIN pg_catalog.pg_roles AS m ON m.rolname = current_user
    WHERE l.classoid = CAST('pg_catalog.pg_authid' AS regclass) AND upper(l.label) = 'MASKED'
      -- a superuser counts as a member of every role
      AND (l.objoid = m.oid OR NOT m.rolsuper AND pg_catalog.pg_has_role(l.objoid, 'USAGE'))
)
SELECT
    CAST(t.id AS bigint) AS table_id,
    CAST(NULL AS text) AS column_name,
    CAST('row-level security: your role sees only some of the rows' AS text) AS why,
    CAST('the table owner and roles with BYPASSRLS see all rows' AS text) AS helps
FROM unnest(CAST(:tables AS oid[])) AS t(id)
WHERE row_security_active(t.id)
UNION ALL
SELECT
    CAST(a.attrelid AS bigint),
    CAST(a.attname AS text),
    'column ' || a.attname || ' is masked for your role (' || k.provider || ')',
    'use a role without masks'
FROM masking AS k
JOIN pg_catalog.pg_attribute AS a ON a.attrelid = ANY (CAST(:tables AS oid[])) AND a.attnum > 0 AND NOT a.attisdropped
LEFT JOIN pg_catalog.pg_seclabel AS l ON l.objoid = a.attrelid AND l.classoid = CAST('pg_catalog.pg_class' AS regclass)
    AND l.objsubid = a.attnum AND l.provider = k.provider
WHERE upper(l.label) LIKE 'MASKED WITH %'
   OR current_setting('anon.privacy_by_default', true) IN ('on', 'true') AND coalesce(upper(l.label) <> 'NOT MASKED', true)
