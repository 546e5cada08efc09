-- From which key to which there are rows in an archive, be they committed or not: what is not is a gap for who reads. Before
-- it is asked who writes there.
-- {archive_log}  the archive
-- > oldest       least key; NULL where it is empty
-- > newest       greatest key
-- > issued       greatest number that was ever given; NULL where we may not see it
-- > standby      who writes cannot be seen here
SELECT
    CAST((SELECT MIN(o.archive_id) FROM {archive_log} AS o WITH (READUNCOMMITTED)) AS bigint) AS oldest,
    CAST((SELECT MAX(n.archive_id) FROM {archive_log} AS n WITH (READUNCOMMITTED)) AS bigint) AS newest,
    CAST(IDENT_CURRENT({archive_log!literal}) AS bigint) AS issued,
    CAST(CASE WHEN CAST(DATABASEPROPERTYEX(DB_NAME(), 'Updateability') AS nvarchar(20)) = N'READ_ONLY' THEN 1 ELSE 0 END AS bit)
        AS standby
