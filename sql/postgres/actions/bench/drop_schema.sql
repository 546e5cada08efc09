-- Drops the schema of a bench with all its objects.
-- {schema} the schema
DROP SCHEMA IF EXISTS {schema} CASCADE
