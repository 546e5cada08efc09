-- The columns of some tables, with the sequence that fills each one: identity, serial, or a default of nextval.
-- :tables           oids, separated by commas
-- > table_id        the table's oid
-- > column_name     the column's name
-- > type_name       its base type (below a domain), without length
-- > not_null        it takes no NULL
-- > sequence_id     oid of the sequence that fills it; NULL if there is none
-- > sequence_schema that sequence's schema
-- > sequence_name   that sequence's name
-- > is_identity     it is an identity column
WITH wanted AS MATERIALIZED (
    SELECT unnest(CAST(string_to_array(:tables, ',') AS oid[])) AS table_oid
),
filling AS MATERIALIZED (
    SELECT d.refobjid AS table_oid, d.refobjsubid AS place, d.objid AS sequence_oid
    FROM wanted AS w
    JOIN pg_catalog.pg_depend AS d ON d.refclassid = CAST('pg_class' AS regclass) AND d.refobjid = w.table_oid
    WHERE d.refobjsubid > 0 AND d.classid = CAST('pg_class' AS regclass) AND d.deptype IN ('a', 'i')
    UNION ALL
    SELECT f.adrelid, f.adnum, d.refobjid
    FROM wanted AS w
    JOIN pg_catalog.pg_attrdef AS f ON f.adrelid = w.table_oid
    JOIN pg_catalog.pg_depend AS d ON d.classid = CAST('pg_attrdef' AS regclass) AND d.objid = f.oid
    WHERE d.refclassid = CAST('pg_class' AS regclass)
),
filled AS MATERIALIZED (
    SELECT DISTINCT ON (f.table_oid, f.place)
           f.table_oid, f.place, s.oid AS sequence_oid, s.relname AS sequence_name, n.nspname AS sequence_schema
    FROM filling AS f
    JOIN pg_catalog.pg_class AS s ON s.oid = f.sequence_oid AND s.relkind = 'S'
    JOIN pg_catalog.pg_namespace AS n ON n.oid = s.relnamespace
    ORDER BY f.table_oid, f.place, s.oid
)
SELECT CAST(a.attrelid AS bigint)                                           AS table_id,
       CAST(a.attname AS text)                                              AS column_name,
       CASE WHEN e.typcategory = 'A' THEN 'array'
            WHEN e.typtype = 'e' THEN 'enum'
            ELSE pg_catalog.format_type(e.oid, NULL) END                    AS type_name,
       coalesce(a.attnotnull)                                               AS not_null,
       CAST(q.sequence_oid AS bigint)                                       AS sequence_id,
       CAST(q.sequence_schema AS text)                                      AS sequence_schema,
       CAST(q.sequence_name AS text)                                        AS sequence_name,
       a.attidentity <> ''                                                  AS is_identity
FROM pg_catalog.pg_attribute AS a
JOIN pg_catalog.pg_type AS t ON t.oid = a.atttypid
JOIN pg_catalog.pg_type AS e ON e.oid = CASE WHEN t.typtype = 'd' THEN t.typbasetype ELSE t.oid END
LEFT JOIN filled AS q ON q.table_oid = a.attrelid AND q.place = a.attnum
-- not joined: a session that may not sort would read the columns of all tables, and compare each with each
WHERE a.attrelid = ANY (CAST(string_to_array(:tables, ',') AS oid[])) AND a.attnum > 0 AND NOT a.attisdropped
ORDER BY a.attrelid, a.attnum
