-- Waits for a lock but briefly in this transaction: while a lock is waited for, everybody else queues up behind.
SET LOCAL lock_timeout = '200ms'
