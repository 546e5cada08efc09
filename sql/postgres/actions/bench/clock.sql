-- The server's clock. Slices of the load end at a time of this clock.
-- > at seconds since the epoch
SELECT CAST(extract(epoch FROM clock_timestamp()) AS double precision) AS at
