-- The reason why rows of the table are hidden from our login: no row before 2016.
-- > kind   hidden
-- > name   the reason why they are hidden
SELECT CAST(N'hidden' AS nvarchar(10)) AS kind, CAST(N'' AS nvarchar(100)) AS name
WHERE 1 = 0
