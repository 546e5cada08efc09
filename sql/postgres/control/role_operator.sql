-- The role that may act on queues and watch them. It cannot log in: it is granted to roles that can.
CREATE ROLE qmon_operator NOLOGIN
