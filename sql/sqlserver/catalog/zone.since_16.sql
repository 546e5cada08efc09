-- The time zone of the server's local time.
-- > zone  its name, as Windows has it
SELECT CAST(CURRENT_TIMEZONE_ID() AS nvarchar(128)) AS zone
