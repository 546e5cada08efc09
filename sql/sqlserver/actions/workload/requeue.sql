-- Requeue what has been in progress for too long.
-- {requeue}     procedure of the design
-- :timeout      seconds
-- :limit        so many at most
-- :max_attempts attempts after which a message is dead
-- > moved       how many
EXEC {requeue} @timeout_s = :timeout, @limit = :limit, @max_attempts = :max_attempts
