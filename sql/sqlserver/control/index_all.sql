-- Proposed if no index gives the rows in their order; the owner of the table would run it.
-- {name}         the index's name
-- {table}        the queue's table
-- {columns}      the columns, in order
CREATE INDEX {name} ON {table} ({columns!list})
