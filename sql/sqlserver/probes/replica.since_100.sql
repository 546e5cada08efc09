-- The delay of this replica: in Azure SQL Database a replica in another region reports the state of its own group, not
-- the primary's, so the delay is unknown.
-- > replay_paused no row
-- > behind_s      no row
SELECT
    CAST(0 AS bit) AS replay_paused,
    CAST(NULL AS float) AS behind_s
FROM sys.databases AS d
WHERE 1 = 0
