-- Half of the gate that keeps producers from running away from consumers: counts messages in large units, so that
-- counting costs almost nothing. It is a sequence, because sessions see each other's numbers immediately and never
-- wait.
-- {gate} the sequence
CREATE SEQUENCE {gate} AS bigint MINVALUE 1 CACHE 1
