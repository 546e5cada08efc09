-- Half of the gate that keeps producers from running away from consumers: counts messages in units of many, so that
-- counting costs next to nothing. A sequence, because sessions see each other's numbers immediately and never wait;
-- from 0 on, because a sequence without drawn numbers shows its first number.
-- {gate} the sequence
CREATE SEQUENCE {gate} AS bigint START WITH 0 INCREMENT BY 1 MINVALUE 0 CACHE 1000;
