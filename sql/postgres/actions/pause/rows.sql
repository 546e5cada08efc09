-- Rows that were inserted, updated and deleted in a table so far, by the server's counters: they may come a second
-- late, ten of a session that does nothing, and count what is rolled back.
-- {table}    the table
-- > inserted rows inserted
-- > updated  rows updated
-- > deleted  rows deleted
SELECT pg_stat_get_tuples_inserted({table!literal}::regclass) AS inserted,
       pg_stat_get_tuples_updated({table!literal}::regclass)  AS updated,
       pg_stat_get_tuples_deleted({table!literal}::regclass)  AS deleted
