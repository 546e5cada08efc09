-- Lets the acting role write into qmon's own schema.
GRANT INSERT, UPDATE, DELETE ON qmon.queues TO qmon_operator
