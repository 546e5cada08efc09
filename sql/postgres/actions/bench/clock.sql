-- The server's clock: slices of the load end at moments of it.
-- > at seconds since the epoch
SELECT CAST(extract(epoch FROM clock_timestamp()) AS double precision) AS at
