-- Half of the gate that keeps pushers from running away from poppers: counts messages in units of many, so that
-- counting costs next to nothing. A sequence, because sessions see each other's numbers at once and wait for nobody.
-- {gate} the sequence
CREATE SEQUENCE {gate} AS bigint MINVALUE 1 CACHE 1
