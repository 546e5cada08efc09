"""qmon: watch, diagnose and repair message queues kept in database tables."""

__version__ = "0.1.0"
