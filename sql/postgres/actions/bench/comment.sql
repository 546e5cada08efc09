-- Marks the schema of a bench in the catalog.
-- {schema} the schema
COMMENT ON SCHEMA {schema} IS 'qmon bench: scratch tables, dropped when the bench ends'
