-- Proposed where a user may not read a table: what whoever owns the table would run.
-- {table}   the table
-- {role}    the user that is to read it
GRANT SELECT ON OBJECT::{table} TO {role}
