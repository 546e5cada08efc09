-- Drops the schema of a bench with all that is in it.
-- {schema} the schema
DROP SCHEMA IF EXISTS {schema} CASCADE
