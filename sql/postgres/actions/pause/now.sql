-- The server's wall clock, by which pauses end.
-- > now_ms  milliseconds since the epoch
SELECT CAST(floor(date_part('epoch', clock_timestamp()) * 1000) AS bigint) AS now_ms
