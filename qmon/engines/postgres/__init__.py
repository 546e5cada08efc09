"""PostgreSQL over psqlODBC."""
