-- Creates a table for the rows that an undo needs, with the procedure that has the right to do so: see
-- control/06_make_store.
-- {table}      the queue's table
-- :kind        trash or kept
-- :about       the table of the kept rows
-- :structure   its columns as JSON
-- :columns     its columns, XML
-- :found_by    column by which the rows of an operation are found: their own number, or the id of split messages
-- > store      its number
DECLARE @table int = OBJECT_ID({table!literal}, N'U'), @kind varchar(20) = :kind, @about nvarchar(600) = :about;
DECLARE @structure nvarchar(max) = :structure, @found_by nvarchar(128) = :found_by;
DECLARE @columns xml = CAST(CAST(:columns AS nvarchar(max)) AS xml);
EXEC qmon.make_store @table = @table, @kind = @kind, @about = @about, @structure = @structure, @columns = @columns,
                     @found_by = @found_by
