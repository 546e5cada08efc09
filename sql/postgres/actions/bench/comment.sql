-- Says in the catalogue what the schema of a bench is.
-- {schema} the schema
COMMENT ON SCHEMA {schema} IS 'qmon bench: scratch tables, dropped when the bench ends'
