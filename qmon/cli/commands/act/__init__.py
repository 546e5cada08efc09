"""The commands that act on messages, their audit and the trash."""
