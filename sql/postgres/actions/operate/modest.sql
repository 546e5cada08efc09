-- Sets up a session that counts: it takes one processor and no more, since the others belong to the poppers.
-- > done  true
SELECT set_config('max_parallel_workers_per_gather', '0', false) IS NOT NULL
       AND set_config('jit', 'off', false) IS NOT NULL AS done
