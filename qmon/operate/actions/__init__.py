"""The actions: requeue, purge, undo, pause, repair, ending sessions."""
