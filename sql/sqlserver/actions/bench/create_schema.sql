-- Creates the schema of a bench. Does not use an existing schema.
-- {schema} the schema
CREATE SCHEMA {schema}
