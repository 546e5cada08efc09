-- The schema of a bench: made anew, never over one that is there.
-- {schema} the schema
CREATE SCHEMA {schema}
