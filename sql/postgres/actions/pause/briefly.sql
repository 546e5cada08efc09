-- Sets a short lock timeout for this transaction: while it waits for a lock, other sessions wait behind it.
SET LOCAL lock_timeout = '200ms'
