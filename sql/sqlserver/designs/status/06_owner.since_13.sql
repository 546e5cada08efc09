-- Name of the consumer in this session, see the table. Called once per session and kept in its context under
-- qmon.owner, because reading sys.dm_exec_sessions at every pop would cost more than the pop; a connection pool clears
-- it between users. A session may also put a name of its own there. sys.dm_exec_sessions shows everybody their own
-- session, without any right.
-- {owner} the procedure
CREATE PROCEDURE {owner}
    @owner varchar(40) OUTPUT
AS
BEGIN
    SET @owner = CONVERT(varchar(40), SESSION_CONTEXT(N'qmon.owner'));
    IF @owner IS NULL
    BEGIN
        SET @owner = (
            SELECT CONVERT(varchar(5), s.session_id) + '/' + CONVERT(varchar(23), s.login_time, 126)
            FROM sys.dm_exec_sessions AS s
            WHERE s.session_id = @@SPID
        );
        EXEC sys.sp_set_session_context @key = N'qmon.owner', @value = @owner;
    END;
END;
