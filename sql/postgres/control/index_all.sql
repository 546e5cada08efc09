-- Proposed if no index gives the rows in their order; the owner of the table would run it.
-- {table}        the queue's table
-- {columns}      the columns, in order
CREATE INDEX CONCURRENTLY ON {table} ({columns!list})
