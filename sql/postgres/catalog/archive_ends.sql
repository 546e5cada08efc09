-- The smallest and the greatest key of committed rows in an archive. Read before the archive's writers are read.
-- {archive_log}  the archive
-- > oldest       smallest key; NULL if it is empty
-- > newest       greatest key
-- > issued       greatest number that was ever given; NULL if we may not see it
-- > standby      true: this is a standby, where writers are not visible
SELECT
    (SELECT min(archive_id) FROM {archive_log}) AS oldest,
    (SELECT max(archive_id) FROM {archive_log}) AS newest,
    (
        SELECT CASE WHEN has_sequence_privilege(d.objid, 'USAGE, SELECT') THEN pg_sequence_last_value(CAST(d.objid AS regclass)) END
        FROM pg_catalog.pg_depend AS d
        JOIN pg_catalog.pg_attribute AS a ON a.attrelid = d.refobjid AND a.attnum = d.refobjsubid
        WHERE d.refclassid = CAST('pg_class' AS regclass) AND d.classid = CAST('pg_class' AS regclass)
            AND d.refobjid = to_regclass({archive_log!literal}) AND a.attname = 'archive_id' AND d.deptype = 'i'
    ) AS issued,
    pg_is_in_recovery() AS standby
