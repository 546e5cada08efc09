-- Columns of a table that have a mask for any role: an extension that anonymizes marks them by security labels.
-- {table}        the table
-- > column_name  the column
SELECT DISTINCT CAST(a.attname AS text) AS column_name
FROM pg_catalog.pg_seclabel AS l
JOIN pg_catalog.pg_attribute AS a ON a.attrelid = l.objoid AND a.attnum = l.objsubid AND a.attnum > 0
WHERE l.objoid = to_regclass({table!literal}) AND l.classoid = CAST('pg_catalog.pg_class' AS regclass)
    AND upper(l.label) LIKE 'MASKED WITH %'
ORDER BY 1
