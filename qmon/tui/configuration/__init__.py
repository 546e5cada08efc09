"""The configuration of a session: queues are added to it from the screen, and it is read again when it changes."""
