-- The columns of an archive; no rows if the table does not exist.
-- {archive_log}  the archive
-- > table_id     its oid
-- > column_name  the column's name
-- > is_key       the server numbers the rows with it, one after the other, and no session can write it
SELECT
    CAST(a.attrelid AS bigint) AS table_id,
    CAST(a.attname AS text) AS column_name,
    a.attidentity = 'a' AND EXISTS (
        SELECT 1
        FROM pg_catalog.pg_depend AS d
        JOIN pg_catalog.pg_sequence AS s ON s.seqrelid = d.objid
        WHERE d.refclassid = CAST('pg_class' AS regclass) AND d.refobjid = a.attrelid AND d.refobjsubid = a.attnum
            AND d.classid = CAST('pg_class' AS regclass) AND d.deptype = 'i'
            AND s.seqincrement = 1 AND s.seqcache = 1 AND NOT s.seqcycle
    ) AS is_key
FROM pg_catalog.pg_attribute AS a
WHERE a.attrelid = to_regclass({archive_log!literal}) AND a.attnum > 0 AND NOT a.attisdropped
ORDER BY a.attnum
