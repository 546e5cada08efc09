-- The role that may act on queues besides watching them. Nobody logs in with it: it is granted to those who may.
CREATE ROLE qmon_operator NOLOGIN
