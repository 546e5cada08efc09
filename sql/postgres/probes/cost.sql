-- What our own session has cost: servers before 18 do not say without an extension.
-- > buffers pages touched so far, NULL: not known
SELECT CAST(NULL AS bigint) AS buffers
