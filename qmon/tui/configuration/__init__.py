"""The configuration file of a dashboard: adds queues from the screen to the file, and applies changes of the file."""
