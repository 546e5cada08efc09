-- A schema for queues, if it does not exist yet.
-- {schema} the schema
CREATE SCHEMA IF NOT EXISTS {schema}
