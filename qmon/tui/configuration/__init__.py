"""The configuration file of a dashboard: queues can be added from the screen, and changes to the file are applied."""
