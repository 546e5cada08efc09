-- Lets the watching role use a schema that has queues.
-- {schema}  the schema
GRANT USAGE ON SCHEMA {schema} TO qmon_monitor
