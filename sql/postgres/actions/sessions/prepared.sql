-- Prepared transactions (two-phase commit), the oldest first: they hold their locks without a session.
-- > gid         its name
-- > owner       the role that prepared it
-- > database    where
-- > prepared_s  seconds since
-- > finish      the statement that ends it, as its owner or a superuser, connected to that database
SELECT
    CAST(p.gid AS text) AS gid,
    CAST(p.owner AS text) AS owner,
    CAST(p.database AS text) AS database,
    CAST(extract(epoch FROM clock_timestamp() - p.prepared) AS float8) AS prepared_s,
    'ROLLBACK PREPARED ' || quote_literal(p.gid) AS finish
FROM pg_prepared_xacts AS p
ORDER BY p.prepared
LIMIT 20
