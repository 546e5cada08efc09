-- The table and index that a page of this database belongs to. Reads the page's header under its latch, so qmon asks
-- once for a page that sessions wait for. Needs VIEW DATABASE STATE (2022 and later: VIEW DATABASE PERFORMANCE STATE).
-- :file_id    the page's file
-- :page_id    its number in the file
-- > page      file and page
-- > table_id  the table's object id
-- > index_id  the index; 0: the table itself, a heap or its clustered index
SELECT
    CAST(CONVERT(nvarchar(10), p.file_id) + N':' + CONVERT(nvarchar(12), p.page_id) AS nvarchar(60)) AS page,
    CAST(p.object_id AS bigint) AS table_id,
    CAST(CASE p.index_id WHEN 1 THEN 0 ELSE p.index_id END AS bigint) AS index_id
FROM sys.dm_db_page_info(DB_ID(), CAST(:file_id AS int), CAST(:page_id AS int), N'LIMITED') AS p
