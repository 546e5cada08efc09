-- Marks the schema of a bench in the catalog.
-- {schema} the schema
DECLARE @schema sysname;
SET @schema = PARSENAME({schema!literal}, 1);
EXEC sys.sp_addextendedproperty
    @name = N'qmon_bench',
    @value = N'qmon bench: scratch tables, dropped when the bench ends',
    @level0type = N'SCHEMA',
    @level0name = @schema;
