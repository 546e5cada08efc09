"""Change databases on an operator's request: actions on queues, and the installation of queues."""
