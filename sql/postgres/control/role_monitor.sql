-- The role that may watch. Nobody logs in with it: it is granted to those who may.
CREATE ROLE qmon_monitor NOLOGIN
