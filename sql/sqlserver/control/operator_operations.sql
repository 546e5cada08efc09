-- Lets the acting role record its operations: it begins operations, and counts and ends its own operations, by
-- procedures. It may not write into the tables of this schema in other ways.
GRANT SELECT ON SCHEMA::qmon TO qmon_operator;
GRANT EXECUTE ON OBJECT::qmon.operation_begin TO qmon_operator;
GRANT EXECUTE ON OBJECT::qmon.operation_count TO qmon_operator;
GRANT EXECUTE ON OBJECT::qmon.operation_end TO qmon_operator;
GRANT EXECUTE ON OBJECT::qmon.operation_undone TO qmon_operator;
GRANT EXECUTE ON OBJECT::qmon.operation_emptied TO qmon_operator
