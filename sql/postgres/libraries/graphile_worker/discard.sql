-- The messages are deleted (complete_jobs).
-- {table}    the jobs
-- {complete_jobs}  the library's function
-- :ids       which, an array as text
-- > id       one that is done
SELECT CAST(done.id AS text) AS id
FROM {complete_jobs}(
    ARRAY(SELECT j.id FROM {table} AS j WHERE j.id = ANY (CAST(:ids AS bigint[])) AND j.locked_at IS NULL)
) AS done
