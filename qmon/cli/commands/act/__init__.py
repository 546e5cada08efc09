"""The commands that act on messages, list past operations, and manage the trash."""
