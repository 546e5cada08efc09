-- The statement that grants the right that we lack to archive. The design's routine and its tables have one owner, so a
-- caller of the routine needs no right on the tables. An object that we may not see counts as not allowed.
-- {archive}  procedure of the design
-- > helps    a GRANT
SELECT N'GRANT EXECUTE ON OBJECT::' + {archive!literal} + N' TO ' + QUOTENAME(USER_NAME()) AS helps
WHERE COALESCE(HAS_PERMS_BY_NAME({archive!literal}, N'OBJECT', N'EXECUTE'), 0) = 0
