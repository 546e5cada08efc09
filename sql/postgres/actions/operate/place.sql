-- The facts that rows and statements depend on: where a table and its partitions store their rows, and the parts of
-- their structure that affect rows. If these facts are the same at the plan and at the end of a batch, nothing was
-- rewritten, replaced or altered in between.
-- {table}   the table
-- :all      whether every partition is meant
-- :parts    otherwise these, oids as an array, and the table itself
-- > part    the table's or partition's oid
-- > file    its file; a rewrite gives it another one
-- > shape   its columns, triggers (those of foreign keys too), rules and policies
SELECT CAST(c.oid AS text)                                                AS part,
       CAST(pg_catalog.pg_relation_filenode(c.oid) AS text)               AS file,
       concat_ws('|',
           (SELECT string_agg(CAST(hashtext(concat_ws(' ', a.attname, a.atttypid, a.atttypmod, a.attnotnull,
                                                      a.attgenerated)) AS text), ',' ORDER BY a.attnum)
            FROM pg_catalog.pg_attribute AS a
            WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped),
           (SELECT string_agg(t.oid || CAST(t.tgenabled AS text), ',' ORDER BY t.oid)
            FROM pg_catalog.pg_trigger AS t
            WHERE t.tgrelid = c.oid),
           (SELECT string_agg(r.oid || CAST(r.ev_enabled AS text), ',' ORDER BY r.oid)
            FROM pg_catalog.pg_rewrite AS r
            WHERE r.ev_class = c.oid),
           (SELECT string_agg(CAST(p.oid AS text), ',' ORDER BY p.oid) || CAST(c.relrowsecurity AS text)
            FROM pg_catalog.pg_policy AS p
            WHERE p.polrelid = c.oid))                                    AS shape
FROM pg_catalog.pg_class AS c
WHERE c.oid = to_regclass({table!literal}) OR c.oid = ANY (CAST(:parts AS oid[]))
   OR CAST(:all AS boolean) AND c.oid IN (
       SELECT p.relid FROM pg_catalog.pg_partition_tree(to_regclass({table!literal})) AS p
   )
ORDER BY c.oid
