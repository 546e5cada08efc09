-- The way to the rows of one operation.
-- {store}         the table
-- {columns!list}  the operation, and the id where there is one
CREATE INDEX qmon_of_operation ON {store} ({columns!list})
