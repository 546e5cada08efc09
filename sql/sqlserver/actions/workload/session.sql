-- A session of the workload: as an application has it, where an error need not end the transaction. What qmon had set
-- for itself is undone.
-- > application what it is called among the applications
SET XACT_ABORT OFF;
SELECT CAST(APP_NAME() AS nvarchar(128)) AS application
