-- The identity of this server and session, which shows whether a pooler is in between. Changes no setting.
-- > major        the server's major version
-- > minor        its minor version
-- > session_id   the server's process for this session
-- > role         our role
-- > application  the application name
-- > source       origin of that name: client if it was given when the session began
-- > age_s        seconds since the session began
-- > standby      the server replays the log of another one, and changes nothing itself
-- > search_path  the schemas that names without one are looked for in
-- > encoding     the encoding of the database
SELECT CAST(current_setting('server_version_num') AS integer) / 10000 AS major,
       CAST(current_setting('server_version_num') AS integer) % 10000 AS minor,
       pg_catalog.pg_backend_pid()                                    AS session_id,
       CAST(current_user AS text)                                     AS role,
       s.setting                                                      AS application,
       s.source                                                       AS source,
       CAST(EXTRACT(EPOCH FROM clock_timestamp() - a.backend_start) AS double precision) AS age_s,
       pg_catalog.pg_is_in_recovery()                                 AS standby,
       current_setting('search_path')                                 AS search_path,
       current_setting('server_encoding')                             AS encoding
FROM pg_catalog.pg_settings AS s,
     pg_catalog.pg_stat_get_activity(pg_catalog.pg_backend_pid()) AS a
WHERE s.name = 'application_name'
