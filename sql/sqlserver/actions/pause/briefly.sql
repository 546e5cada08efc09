-- Waits for a lock but briefly: while a lock is waited for, everybody else queues up behind.
SET LOCK_TIMEOUT 200
