"""The configuration of a session: queues can be added from the screen, and changes of the file are applied."""
