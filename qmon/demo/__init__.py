"""The demo: a private PostgreSQL server, and load on the queues in this server."""
