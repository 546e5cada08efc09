-- Columns of a table whose exact values our role cannot move or keep: it may not read the column, or an extension that
-- anonymizes shows other values. Such an extension marks the role and the column by security labels of one provider.
-- {table}        the table
-- > column_name  the column; ctid, which every action reads, is listed if it is the only one
-- > masked       the server shows other values than there are
-- > why          why it cannot be kept
-- > helps        what to do
WITH me AS MATERIALIZED (
    SELECT r.oid, r.rolsuper
    FROM pg_catalog.pg_roles AS r
    WHERE r.rolname = current_user
),
masking AS MATERIALIZED (
    SELECT DISTINCT l.provider
    FROM pg_catalog.pg_shseclabel AS l
    CROSS JOIN me AS m
    WHERE l.classoid = CAST('pg_catalog.pg_authid' AS regclass) AND upper(l.label) = 'MASKED'
      -- a superuser counts as a member of every role
      AND (l.objoid = m.oid OR NOT m.rolsuper AND pg_catalog.pg_has_role(l.objoid, 'USAGE'))
),
hidden AS MATERIALIZED (
    SELECT a.attname, a.attnum
    FROM pg_catalog.pg_attribute AS a
    WHERE a.attrelid = to_regclass({table!literal}) AND (a.attnum > 0 OR a.attname = 'ctid') AND NOT a.attisdropped
      AND NOT pg_catalog.has_column_privilege(a.attrelid, a.attnum, 'SELECT')
)
SELECT CAST(h.attname AS text)                                                   AS column_name,
       false                                                                     AS masked,
       'your role may not read it'                                               AS why,
       format('GRANT SELECT ON %I.%I TO %I', n.nspname, c.relname, current_user) AS helps
FROM hidden AS h
JOIN pg_catalog.pg_class AS c ON c.oid = to_regclass({table!literal})
JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
WHERE h.attnum > 0 OR NOT EXISTS (SELECT FROM hidden AS o WHERE o.attnum > 0)
UNION ALL
SELECT CAST(a.attname AS text), true, 'it is masked for your role (' || k.provider || ')', 'use a role without masks'
FROM masking AS k
JOIN pg_catalog.pg_attribute AS a ON a.attrelid = to_regclass({table!literal}) AND a.attnum > 0 AND NOT a.attisdropped
LEFT JOIN pg_catalog.pg_seclabel AS l ON l.objoid = a.attrelid AND l.classoid = CAST('pg_catalog.pg_class' AS regclass)
    AND l.objsubid = a.attnum AND l.provider = k.provider
WHERE upper(l.label) LIKE 'MASKED WITH %'
   OR current_setting('anon.privacy_by_default', true) IN ('on', 'true') AND coalesce(upper(l.label) <> 'NOT MASKED', true)
ORDER BY 1
