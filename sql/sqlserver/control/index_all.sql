-- Proposed where no index gives the rows in their order: what whoever owns the table would run.
-- {name}         the index's name
-- {table}        the queue's table
-- {columns}      the columns, in order
CREATE INDEX {name} ON {table} ({columns!list})
