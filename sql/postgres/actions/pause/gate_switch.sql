-- The switch of a gate: the time until which inserts are refused, in milliseconds since the epoch.
-- {switch} the sequence
CREATE SEQUENCE {switch} AS bigint MINVALUE 0 CACHE 1
