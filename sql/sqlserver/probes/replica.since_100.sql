-- How far this copy of the database is behind: in Azure SQL Database a copy in another region is told its own group's state, not
-- the primary's, so nothing is said.
-- > replay_paused no row
-- > behind_s      no row
SELECT
    CAST(0 AS bit) AS replay_paused,
    CAST(NULL AS float) AS behind_s
FROM sys.databases AS d
WHERE 1 = 0
