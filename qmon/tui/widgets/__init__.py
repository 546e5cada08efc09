"""Widgets that draw lines and tables. They do not depend on queues."""
