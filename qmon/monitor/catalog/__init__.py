"""Find out from the server's catalog which tables are queues, and which statements on them are cheap."""
