-- Proposed where a role may not read a table: what whoever owns the table would run.
-- {schema}  the table's schema
-- {table}   the table
-- {role}    the role that is to read it
GRANT USAGE ON SCHEMA {schema} TO {role}; GRANT SELECT ON {table} TO {role}
