-- The columns of some tables, with the sequence that fills each one: identity, serial, or a default of nextval.
-- :tables           oids, separated by commas
-- > table_id        the table's oid
-- > column_name     the column's name
-- > type_name       its base type (below a domain), without length
-- > not_null        it takes no NULL
-- > sequence_id     oid of the sequence that fills it; NULL where none does
-- > sequence_schema that sequence's schema
-- > sequence_name   that sequence's name
-- > is_identity     it is an identity column
SELECT CAST(a.attrelid AS bigint)                                           AS table_id,
       CAST(a.attname AS text)                                              AS column_name,
       CASE WHEN e.typcategory = 'A' THEN 'array'
            WHEN e.typtype = 'e' THEN 'enum'
            ELSE pg_catalog.format_type(e.oid, NULL) END                    AS type_name,
       a.attnotnull                                                         AS not_null,
       CAST(s.oid AS bigint)                                                AS sequence_id,
       CAST(sn.nspname AS text)                                             AS sequence_schema,
       CAST(s.relname AS text)                                              AS sequence_name,
       a.attidentity <> ''                                                  AS is_identity
FROM pg_catalog.pg_attribute AS a
JOIN pg_catalog.pg_type AS t ON t.oid = a.atttypid
JOIN pg_catalog.pg_type AS e ON e.oid = CASE WHEN t.typtype = 'd' THEN t.typbasetype ELSE t.oid END
LEFT JOIN LATERAL (
    SELECT d.objid AS sequence_oid
    FROM pg_catalog.pg_depend AS d
    WHERE d.classid = CAST('pg_class' AS regclass) AND d.refclassid = CAST('pg_class' AS regclass)
      AND d.refobjid = a.attrelid AND d.refobjsubid = a.attnum AND d.deptype IN ('a', 'i')
      AND EXISTS (SELECT FROM pg_catalog.pg_class AS o WHERE o.oid = d.objid AND o.relkind = 'S')
    UNION
    SELECT d.refobjid
    FROM pg_catalog.pg_attrdef AS f
    JOIN pg_catalog.pg_depend AS d ON d.classid = CAST('pg_attrdef' AS regclass) AND d.objid = f.oid
    JOIN pg_catalog.pg_class AS o ON o.oid = d.refobjid AND o.relkind = 'S'
    WHERE f.adrelid = a.attrelid AND f.adnum = a.attnum AND d.refclassid = CAST('pg_class' AS regclass)
    LIMIT 1
) AS q ON true
LEFT JOIN pg_catalog.pg_class AS s ON s.oid = q.sequence_oid
LEFT JOIN pg_catalog.pg_namespace AS sn ON sn.oid = s.relnamespace
WHERE a.attrelid = ANY (CAST(string_to_array(:tables, ',') AS oid[]))
  AND a.attnum > 0
  AND NOT a.attisdropped
ORDER BY a.attrelid, a.attnum
