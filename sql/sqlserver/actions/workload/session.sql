-- A session of the workload: like that of an application, so an error need not end the transaction. Undoes qmon's own
-- settings.
-- > application its application name
SET XACT_ABORT OFF;
SELECT CAST(APP_NAME() AS nvarchar(128)) AS application
