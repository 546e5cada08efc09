-- The time zone of the server's local time. NULL: before 2022 the server does not say.
-- > zone  its name
SELECT CAST(NULL AS nvarchar(128)) AS zone
