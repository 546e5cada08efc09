-- The role that may act on queues besides watching them: users of the database are made members of it.
CREATE ROLE qmon_operator
