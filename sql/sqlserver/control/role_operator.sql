-- The role that may act on queues and watch them: users of the database are made members of it.
CREATE ROLE qmon_operator
