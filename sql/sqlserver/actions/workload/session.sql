-- A session of the workload: as an application has it, where an error need not end the transaction. Undoes qmon's own
-- settings.
-- > application its application name
SET XACT_ABORT OFF;
SELECT CAST(APP_NAME() AS nvarchar(128)) AS application
