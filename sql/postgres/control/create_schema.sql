-- A schema for queues, where there is none of that name yet.
-- {schema} the schema
CREATE SCHEMA IF NOT EXISTS {schema}
