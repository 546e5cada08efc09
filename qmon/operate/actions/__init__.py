"""The actions: requeue, redrive, purge, undo, archive, pause, gate, repair, ending sessions."""
