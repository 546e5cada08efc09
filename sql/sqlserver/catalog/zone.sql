-- The time zone of the server's local time. NULL: the server does not show it before 2022.
-- > zone  its name
SELECT CAST(NULL AS nvarchar(128)) AS zone
