-- The time zone of the server's local time: the default of sessions that set no time zone. Our sessions use UTC.
-- > zone  its name
SELECT CAST(s.reset_val AS text) AS zone
FROM pg_catalog.pg_settings AS s
WHERE s.name = 'TimeZone'
