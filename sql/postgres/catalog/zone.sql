-- The time zone of the server's local time, as sessions get it that ask for none; ours are in UTC.
-- > zone  its name
SELECT CAST(s.reset_val AS text) AS zone
FROM pg_catalog.pg_settings AS s
WHERE s.name = 'TimeZone'
