-- What our role may see of other sessions, and whether it may end them.
-- > role     our role
-- > own      this very session
-- > sees     true: our role can see the activity of other sessions
-- > grant    the statement that would help
SELECT
    CAST(current_user AS text) AS role,
    pg_backend_pid() AS own,
    pg_has_role('pg_read_all_stats', 'USAGE') AS sees,
    'GRANT pg_read_all_stats TO ' || quote_ident(current_user) AS grant
