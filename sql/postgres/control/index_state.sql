-- Proposed if no index gives the rows of one state; the owner of the table would run it.
-- {table}        the queue's table
-- {columns}      the columns, in order
-- {state}        column: the state
-- :value         the state's value, as a literal
CREATE INDEX CONCURRENTLY ON {table} ({columns!list}) WHERE {state} = :value
