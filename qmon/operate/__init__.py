"""Changes to a database, always when an operator asks: actions on queues, and installing them."""
