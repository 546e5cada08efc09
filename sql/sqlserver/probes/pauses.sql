-- The pauses that are in force. Their switch was set in the same transaction.
-- > queue    the queue's name
-- > about    its table
-- > side     pushers or poppers
-- > since_at when it began, seconds since the epoch
-- > until_at when it ends
-- > by       who paused
-- > reason   why
-- > way      switch or gate
SELECT p.queue,
       p.about,
       p.side,
       CAST(DATEDIFF(SECOND, '20000101', p.since) AS float) + 946684800 AS since_at,
       CAST(DATEDIFF(SECOND, '20000101', p.until) AS float) + 946684800 AS until_at,
       p.[by],
       p.reason,
       p.way
FROM qmon.pauses AS p WITH (NOLOCK)
WHERE p.lifted_at IS NULL
    AND p.until > SYSUTCDATETIME()
ORDER BY p.id
