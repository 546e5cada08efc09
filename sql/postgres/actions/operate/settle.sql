-- Sets up a session that acts in batches: it reads known rows directly, even if statistics suggest another plan, and a
-- pause of the producers does not stop it from putting messages back.
-- :local true: for one transaction only
-- > done true
SELECT set_config('enable_seqscan', 'off', s.local) IS NOT NULL
       AND set_config('jit', 'off', s.local) IS NOT NULL
       AND set_config('qmon.let_through', 'on', s.local) IS NOT NULL AS done
FROM (SELECT CAST(:local AS boolean) AS local OFFSET 0) AS s
