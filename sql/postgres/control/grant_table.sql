-- Proposed if a role may not read a table; the owner of the table would run it.
-- {schema}  the table's schema
-- {table}   the table
-- {role}    the role that is to read it
GRANT USAGE ON SCHEMA {schema} TO {role}; GRANT SELECT ON {table} TO {role}
