"""A PostgreSQL of its own, and the load that makes queues on it move."""
