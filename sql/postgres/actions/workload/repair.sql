-- Fill the holes and requeue the orphans of a ring.
-- {repair} function of the design
-- :age     seconds that a slot must not have moved
-- > holes   holes filled
-- > orphans orphans requeued
SELECT
    CAST(count(*) FILTER (WHERE r.was = 'hole') AS integer) AS holes,
    CAST(count(*) FILTER (WHERE r.was = 'orphan') AS integer) AS orphans
FROM {repair}(CAST(:age AS double precision)) AS r
