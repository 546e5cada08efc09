"""Changes to a database, only when an operator asks: actions on queues, and installing them."""
