-- Makes the role of the server that sees the sessions of others and ends them: logins are made members of it.
IF SUSER_ID(N'qmon_operator') IS NULL EXEC (N'CREATE SERVER ROLE qmon_operator');
EXEC master.sys.sp_executesql N'GRANT VIEW SERVER PERFORMANCE STATE, ALTER ANY CONNECTION TO qmon_operator'
