-- Proposed if a user may not read a table; the owner of the table would run it.
-- {table}   the table
-- {role}    the user that is to read it
GRANT SELECT ON OBJECT::{table} TO {role}
