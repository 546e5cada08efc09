-- What our role may see and do of other sessions.
-- > role     who we are
-- > own      this very session
-- > sees     our role sees what the sessions of others do
-- > grant    the statement that would help
SELECT
    CAST(current_user AS text) AS role,
    pg_backend_pid() AS own,
    pg_has_role('pg_read_all_stats', 'USAGE') AS sees,
    'GRANT pg_read_all_stats TO ' || quote_ident(current_user) AS grant
