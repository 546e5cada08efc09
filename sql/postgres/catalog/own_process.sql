-- The server's process that answers us just now: behind a pooler not always the same.
-- > session_id  its number
SELECT pg_catalog.pg_backend_pid() AS session_id
