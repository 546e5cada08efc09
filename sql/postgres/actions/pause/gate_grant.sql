-- Lets every role read the switch of a gate, because each INSERT checks the switch. Lets the acting role set the
-- switch, if that role exists.
-- {switch} the sequence
DO $$
BEGIN
    GRANT SELECT ON SEQUENCE {switch} TO PUBLIC;
    IF EXISTS (SELECT FROM pg_catalog.pg_roles WHERE rolname OPERATOR(pg_catalog.=) 'qmon_operator') THEN
        GRANT SELECT, UPDATE ON SEQUENCE {switch} TO qmon_operator;
    END IF;
END
$$
