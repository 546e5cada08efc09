-- Requeue what has been in progress for too long.
-- {requeue}     function of the design
-- :timeout      seconds
-- :limit        so many at most
-- :max_attempts attempts after which a message is dead
-- > moved       how many
SELECT r.moved
FROM {requeue}(CAST(:timeout AS double precision), :limit, :max_attempts) AS r(moved)
