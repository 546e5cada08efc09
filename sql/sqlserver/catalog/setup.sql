-- The objects of qmon that already exist. Does not read rights: granting them again does nothing.
-- > qmon_schema          the schema qmon
-- > registry             the table qmon.queues
-- > monitor_role         the role qmon_monitor
-- > operator_role        the role qmon_operator
-- > monitor_statistics   always 0: granted again
-- > monitor_registry     always 0: granted again
-- > operator_monitor     qmon_operator is a member of qmon_monitor
-- > operator_signal      the server has a role qmon_operator (a right to end sessions is none of a database)
-- > operations           the table qmon.operations
-- > operator_operations  always 0: granted again
-- > monitor_operations   there is no table qmon.operations; otherwise granted again
-- > pauses               the table qmon.pauses
-- > monitor_pauses       there is no table qmon.pauses; otherwise granted again
-- > operator_pauses      always 0: granted again
-- > operator_stores      always 0: granted again
SELECT CAST(CASE WHEN SCHEMA_ID(N'qmon') IS NOT NULL THEN 1 ELSE 0 END AS bit)                          AS qmon_schema,
       CAST(CASE WHEN OBJECT_ID(N'qmon.queues', N'U') IS NOT NULL THEN 1 ELSE 0 END AS bit)             AS registry,
       CAST(CASE WHEN DATABASE_PRINCIPAL_ID(N'qmon_monitor') IS NOT NULL THEN 1 ELSE 0 END AS bit)      AS monitor_role,
       CAST(CASE WHEN DATABASE_PRINCIPAL_ID(N'qmon_operator') IS NOT NULL THEN 1 ELSE 0 END AS bit)     AS operator_role,
       CAST(0 AS bit)                                                                       AS monitor_statistics,
       CAST(0 AS bit)                                                                       AS monitor_registry,
       CAST(COALESCE(IS_ROLEMEMBER(N'qmon_monitor', N'qmon_operator'), 0) AS bit)           AS operator_monitor,
       CAST(CASE WHEN SUSER_ID(N'qmon_operator') IS NOT NULL THEN 1 ELSE 0 END AS bit)      AS operator_signal,
       CAST(CASE WHEN OBJECT_ID(N'qmon.operations', N'U') IS NOT NULL THEN 1 ELSE 0 END AS bit)         AS operations,
       CAST(0 AS bit)                                                                       AS operator_operations,
       CAST(CASE WHEN OBJECT_ID(N'qmon.operations', N'U') IS NULL THEN 1 ELSE 0 END AS bit) AS monitor_operations,
       CAST(CASE WHEN OBJECT_ID(N'qmon.pauses', N'U') IS NOT NULL THEN 1 ELSE 0 END AS bit) AS pauses,
       CAST(CASE WHEN OBJECT_ID(N'qmon.pauses', N'U') IS NULL THEN 1 ELSE 0 END AS bit)     AS monitor_pauses,
       CAST(0 AS bit)                                                                       AS operator_pauses,
       CAST(0 AS bit)                                                                       AS operator_stores
