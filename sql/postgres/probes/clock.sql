-- The server's clock, to time a whole poll on the server.
-- > now_at seconds since the epoch
SELECT CAST(extract(epoch FROM clock_timestamp()) AS float8) AS now_at
