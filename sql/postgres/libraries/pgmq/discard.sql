-- The messages are deleted (pgmq.delete).
-- {delete}   the library's function
-- :queue     the queue
-- :ids       which, an array as text
-- > id       one that is done
SELECT CAST(done.id AS text) AS id FROM {delete}(CAST(:queue AS text), CAST(:ids AS bigint[])) AS done (id)
