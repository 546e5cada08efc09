"""The actions on queues: requeue, redrive, purge, undo, archive, pause, gate, repair, ending sessions."""
