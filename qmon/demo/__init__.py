"""The demo: a private PostgreSQL server with queues under load."""
