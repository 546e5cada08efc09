-- Proposed where no index leads to the rows of one state: what whoever owns the table would run.
-- {table}        the queue's table
-- {columns}      the columns, in order
-- {state}        column: the state
-- :value         the state's value, as a literal
CREATE INDEX CONCURRENTLY ON {table} ({columns!list}) WHERE {state} = :value
