-- Fill the holes and requeue the orphans of a ring.
-- {repair} procedure of the design
-- :age     seconds that a slot must not have moved
-- > number the number that stood in the way
-- > was    hole or orphan
-- > became the new number of an orphan
EXEC {repair} @min_age_s = :age
