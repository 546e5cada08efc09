-- Our role, for the GRANT in the advice.
-- > role      our user in this database
-- > database  the database we are in
SELECT CAST(USER_NAME() AS nvarchar(128)) AS role, CAST(DB_NAME() AS nvarchar(128)) AS [database]
