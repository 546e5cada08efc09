-- Proposed where no index gives the rows in their order: what whoever owns the table would run.
-- {table}        the queue's table
-- {columns}      the columns, in order
CREATE INDEX CONCURRENTLY ON {table} ({columns!list})
