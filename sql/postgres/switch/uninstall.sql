-- Drops the switch of a queue. Skips objects that do not exist.
-- {push_until} the sequence for producers
-- {pop_until}  the sequence for consumers
-- {paused}     function
DROP FUNCTION IF EXISTS {paused}(text);
DROP SEQUENCE IF EXISTS {push_until};
DROP SEQUENCE IF EXISTS {pop_until};
