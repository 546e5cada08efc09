-- The server process of this session. Behind a pooler, it may change.
-- > session_id  its number
SELECT pg_catalog.pg_backend_pid() AS session_id
