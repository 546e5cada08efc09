-- The role that may watch. It cannot log in: it is granted to roles that can.
CREATE ROLE qmon_monitor NOLOGIN
