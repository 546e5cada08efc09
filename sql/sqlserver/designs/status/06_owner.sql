-- Name of the consumer in this session, see the table. sys.dm_exec_sessions shows everybody their own session, without
-- any right.
-- {owner} the procedure
CREATE PROCEDURE {owner}
    @owner varchar(40) OUTPUT
AS
    SET @owner = (
        SELECT CONVERT(varchar(5), s.session_id) + '/' + CONVERT(varchar(23), s.login_time, 126)
        FROM sys.dm_exec_sessions AS s
        WHERE s.session_id = @@SPID
    );
