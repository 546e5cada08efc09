-- The way to the rows of one operation.
-- {store}          the table
-- {columns!list}   the operation, and the id of split messages
CREATE INDEX ON {store} ({columns!list})
