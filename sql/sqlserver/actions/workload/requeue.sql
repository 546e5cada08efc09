-- Requeue messages that have been in progress for too long.
-- {requeue}     procedure of the design
-- :timeout      seconds
-- :limit        maximum number of rows
-- :max_attempts attempts after which a message is dead
-- > moved       number
EXEC {requeue} @timeout_s = :timeout, @limit = :limit, @max_attempts = :max_attempts
