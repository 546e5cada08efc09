-- The current pauses: recorded pauses whose switch contains a future time.
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
       CAST(extract(epoch FROM p.since) AS double precision)    AS since_at,
       s.until_ms / 1000.0::float8                              AS until_at,
       p.by,
       p.reason,
       p.way
FROM qmon.pauses AS p
CROSS JOIN LATERAL (
    SELECT CASE WHEN EXISTS (SELECT FROM pg_catalog.pg_class AS c WHERE c.oid = p.switch AND c.relkind = 'S')
                THEN pg_sequence_last_value(p.switch) END AS until_ms
) AS s
WHERE p.lifted_at IS NULL
  AND p.until > clock_timestamp()
  AND s.until_ms > date_part('epoch', clock_timestamp()) * 1000
ORDER BY p.id
