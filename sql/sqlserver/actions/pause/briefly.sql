-- Sets a short lock timeout: while this session waits for a lock, other sessions wait behind it.
SET LOCK_TIMEOUT 200
