-- Sets up a session that acts in batches: it goes straight to the rows it knows, whatever statistics say, and a pause
-- of the pushers does not stop it from putting messages back.
-- > done  true
SELECT set_config('enable_seqscan', 'off', false) IS NOT NULL
       AND set_config('jit', 'off', false) IS NOT NULL
       AND set_config('qmon.let_through', 'on', false) IS NOT NULL AS done
