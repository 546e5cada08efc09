-- Requeue messages that have been in progress for too long.
-- {requeue}     function of the design
-- :timeout      seconds
-- :limit        maximum number of rows
-- :max_attempts attempts after which a message is dead
-- > moved       number
SELECT r.moved
FROM {requeue}(CAST(:timeout AS double precision), :limit, :max_attempts) AS r(moved)
