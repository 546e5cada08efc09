-- Half of the gate that keeps producers from running away from consumers: counts messages in large units, so that
-- counting costs almost nothing. It is a sequence, because sessions see each other's numbers immediately and never
-- wait. It starts at 0, because an unused sequence shows its first number.
-- {gate} the sequence
CREATE SEQUENCE {gate} AS bigint START WITH 0 INCREMENT BY 1 MINVALUE 0 CACHE 1000;
