-- Says which queue of several a gate is for, to the statement that makes it, in the same transaction.
-- :queue  the queue
-- :pushed what a row has that is pushed, and one that is put back has not; NULL: nothing of the kind
-- > done  true
SELECT set_config('qmon.gate_queue', :queue, true) IS NOT NULL
       AND set_config('qmon.gate_pushed', :pushed, true) IS NOT NULL AS done
