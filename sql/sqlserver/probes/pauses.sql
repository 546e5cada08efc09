-- The current pauses. The transaction that recorded a pause also set its switch.
-- > queue    the queue's name
-- > about    its table
-- > side     producers or consumers
-- > since_at when it began, seconds since the epoch
-- > until_at when it ends
-- > by       the operator who paused
-- > reason   why
-- > way      switch or gate
SELECT p.queue,
       p.about,
       p.side,
       CAST(DATEDIFF(DAY, '19700101', p.since) AS float) * 86400 + DATEDIFF(SECOND, CAST(p.since AS date), p.since) AS since_at,
       CAST(DATEDIFF(DAY, '19700101', p.until) AS float) * 86400 + DATEDIFF(SECOND, CAST(p.until AS date), p.until) AS until_at,
       p.[by],
       p.reason,
       p.way
FROM qmon.pauses AS p WITH (NOLOCK)
WHERE p.lifted_at IS NULL
    AND p.until > SYSUTCDATETIME()
ORDER BY p.id
