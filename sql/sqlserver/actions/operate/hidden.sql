-- What hides rows of the table from our login: nothing before 2016.
-- > kind   hidden
-- > name   the reason why they are hidden
SELECT CAST(N'hidden' AS nvarchar(10)) AS kind, CAST(N'' AS nvarchar(100)) AS name
WHERE 1 = 0
