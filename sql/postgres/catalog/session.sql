-- Sets up a session of qmon, and says which server and session it is.
-- :statement_timeout    milliseconds as text, 0 for none, NULL for the server's own
-- :lock_timeout         likewise
-- :transaction_timeout  likewise: idle in an open transaction
-- :read_only            on or off
-- :application          the application name
-- > major               the server's major version
-- > minor               its minor version
-- > session_id          the server's process for this session
-- > role                who we are
SELECT CAST(current_setting('server_version_num') AS integer) / 10000 AS major,
       CAST(current_setting('server_version_num') AS integer) % 10000 AS minor,
       pg_catalog.pg_backend_pid()                                    AS session_id,
       CAST(current_user AS text)                                     AS role
FROM (SELECT set_config('statement_timeout', COALESCE(:statement_timeout, current_setting('statement_timeout')), false),
             set_config('lock_timeout', COALESCE(:lock_timeout, current_setting('lock_timeout')), false),
             set_config('idle_in_transaction_session_timeout',
                        COALESCE(:transaction_timeout, current_setting('idle_in_transaction_session_timeout')), false),
             set_config('default_transaction_read_only', :read_only, false),
             set_config('application_name', :application, false),
             set_config('timezone', 'UTC', false),
             set_config('plan_cache_mode', 'force_custom_plan', false)
      OFFSET 0) AS settings
