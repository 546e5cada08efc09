-- Stores the queue that a gate is for (of several queues in the table), for the statement that creates the gate in the
-- same transaction.
-- :queue  the queue
-- :pushed values of pushed rows that restored rows do not have; NULL: none
-- > done  true
SELECT set_config('qmon.gate_queue', :queue, true) IS NOT NULL
       AND set_config('qmon.gate_pushed', :pushed, true) IS NOT NULL AS done
