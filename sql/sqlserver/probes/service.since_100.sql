-- The service tier of this database in Azure SQL Database. Needs no right; only some logins see the pool's name.
-- > objective  the service objective, such as GP_S_Gen5_2; empty: not shown
-- > pool       the elastic pool that it is in; empty: in none, or its name is not shown
-- > pooled     it is in an elastic pool
-- > serverless true: it pauses when no session has been connected for long enough
SELECT TOP (1)
    CAST(COALESCE(d.objective, N'') AS nvarchar(128)) AS objective,
    CAST(COALESCE(o.elastic_pool_name, N'') AS nvarchar(128)) AS pool,
    CAST(CASE WHEN d.objective = N'ElasticPool' THEN 1 ELSE 0 END AS bit) AS pooled,
    CAST(CASE WHEN d.objective LIKE N'%[_]S[_]%' THEN 1 ELSE 0 END AS bit) AS serverless
FROM (SELECT CAST(DATABASEPROPERTYEX(DB_NAME(), 'ServiceObjective') AS nvarchar(128)) AS objective) AS d
LEFT JOIN sys.database_service_objectives AS o ON 1 = 1
