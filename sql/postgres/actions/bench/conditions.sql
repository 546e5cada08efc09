-- The settings of the server that the figures of a bench depend on.
-- > version            of the server
-- > synchronous_commit whether a commit waits until it is durable
-- > fsync              whether durable means on disk
-- > full_page_writes   whether the first change of a page after a checkpoint is logged in full
-- > wal_level          how much is logged
-- > shared_buffers     memory for pages
-- > max_wal_size       log between two checkpoints
-- > autovacuum_naptime pause between two rounds of vacuum
-- > room               connections that are free
SELECT
    current_setting('server_version') AS version,
    current_setting('synchronous_commit') AS synchronous_commit,
    current_setting('fsync') AS fsync,
    current_setting('full_page_writes') AS full_page_writes,
    current_setting('wal_level') AS wal_level,
    current_setting('shared_buffers') AS shared_buffers,
    current_setting('max_wal_size') AS max_wal_size,
    current_setting('autovacuum_naptime') AS autovacuum_naptime,
    CAST(current_setting('max_connections') AS integer)
        - CAST(current_setting('superuser_reserved_connections') AS integer)
        - CAST(count(*) AS integer) AS room
FROM pg_stat_get_activity(NULL) AS a
WHERE a.backend_type = 'client backend'
