-- Sets up a session that counts: it uses only one processor, so that consumers can use the others.
-- :local true: for one transaction only
-- > done true
SELECT set_config('max_parallel_workers_per_gather', '0', s.local) IS NOT NULL
       AND set_config('jit', 'off', s.local) IS NOT NULL AS done
FROM (SELECT CAST(:local AS boolean) AS local OFFSET 0) AS s
