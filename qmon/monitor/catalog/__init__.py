"""What the server's catalogue says: which tables are queues, and what may be asked of them cheaply."""
