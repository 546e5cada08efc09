-- The key range of the rows of an archive, committed or not: uncommitted rows are gaps for readers. Read before the
-- archive's writers are read.
-- {archive_log}  the archive
-- > oldest       smallest key; NULL if it is empty
-- > newest       greatest key
-- > issued       greatest number that was ever given; NULL if we may not see it
-- > standby      true: this is a standby, where writers are not visible
SELECT
    CAST((SELECT MIN(o.archive_id) FROM {archive_log} AS o WITH (READUNCOMMITTED)) AS bigint) AS oldest,
    CAST((SELECT MAX(n.archive_id) FROM {archive_log} AS n WITH (READUNCOMMITTED)) AS bigint) AS newest,
    CAST(IDENT_CURRENT({archive_log!literal}) AS bigint) AS issued,
    CAST(CASE WHEN CAST(DATABASEPROPERTYEX(DB_NAME(), 'Updateability') AS nvarchar(20)) = N'READ_ONLY' THEN 1 ELSE 0 END AS bit)
        AS standby
