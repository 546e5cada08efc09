-- Lets the acting role write into qmon's own schema.
GRANT INSERT, UPDATE, DELETE ON OBJECT::qmon.queues TO qmon_operator
