-- Give a message of the workload back as failed.
-- {fail}    procedure of the design
-- :id       its id
-- :attempt  the attempt that pop gave
-- :most     attempts after which it is dead
-- > state   its new state; NULL if it is no longer ours
EXEC {fail} @id = :id, @attempt = :attempt, @max_attempts = :most
