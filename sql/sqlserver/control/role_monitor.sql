-- The role that may watch: users of the database are made members of it.
CREATE ROLE qmon_monitor
