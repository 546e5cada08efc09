-- The server's clock, and the values that checks of owner sessions need. The server started when it created its tempdb.
-- If a session logged in later than its connection was made, a connection pool reused the connection.
-- > clock        the clock, exact, as text (UTC)
-- > epoch        the clock in seconds since the epoch
-- > sees_others  true: our role can see other sessions
-- > up_since     when the server came up, in seconds since the epoch
-- > pooled       true: a connection pool shares sessions
SET NOCOUNT ON;
DECLARE @now datetime2(3) = SYSUTCDATETIME();
DECLARE @sees bit = COALESCE(HAS_PERMS_BY_NAME(QUOTENAME(DB_NAME()), N'DATABASE', 'VIEW DATABASE STATE'), 0);
DECLARE @pooled bit = 0;
IF @sees = 1
    SELECT @pooled = 1
    WHERE EXISTS (
        SELECT 1
        FROM sys.dm_exec_sessions AS s
        JOIN sys.dm_exec_connections AS c ON c.session_id = s.session_id
        WHERE s.is_user_process = 1
            AND s.session_id <> @@SPID
            AND s.login_time > DATEADD(SECOND, 1, c.connect_time)
    );
SELECT CONVERT(nvarchar(40), @now, 121)                                                              AS clock,
       (CAST(DATEDIFF(SECOND, '20000101', @now) AS float) + 946684800) + DATEPART(MILLISECOND, @now) / 1000.0E0   AS epoch,
       @sees                                                                                        AS sees_others,
       (SELECT CAST(DATEDIFF(DAY, '19700101', d.create_date) AS float) * 86400 + DATEDIFF(SECOND, CAST(d.create_date AS date), d.create_date)
                + DATEDIFF(SECOND, GETDATE(), GETUTCDATE())
        FROM sys.databases AS d
        WHERE d.database_id = 2)                                                                    AS up_since,
       @pooled                                                                                      AS pooled
