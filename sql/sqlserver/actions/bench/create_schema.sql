-- The schema of a bench, newly created; an existing one is not used.
-- {schema} the schema
CREATE SCHEMA {schema}
