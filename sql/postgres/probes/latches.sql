-- Sessions that wait for a latch on a page of a queue's table, or of an index of it. The server does not show the page,
-- but a waiting session has locked the tables that it works on. Read only after a session was seen in such a wait.
-- :tables       table ids as an array, {1,2}
-- :chars        maximum characters of a statement
-- > session     its process id
-- > event       the wait
-- > waiting_s   NULL: the server does not say
-- > table_id    one of our tables that it works on; NULL: none
-- > index_id    NULL: the server does not say which of the table's pages
-- > page        empty: the server does not say
-- > application its application name
-- > statement   its statement, shortened
SELECT
    a.pid AS session,
    a.wait_event AS event,
    CAST(NULL AS float8) AS waiting_s,
    CAST(l.relation AS bigint) AS table_id,
    CAST(NULL AS bigint) AS index_id,
    CAST('' AS text) AS page,
    coalesce(a.application_name, '') AS application,
    coalesce(left(a.query, CAST(:chars AS int)), '') AS statement
FROM pg_stat_get_activity(NULL) AS a
LEFT JOIN pg_locks AS l
    ON l.pid = a.pid
    AND l.locktype = 'relation'
    AND l.granted
    AND l.relation = ANY (CAST(:tables AS oid[]))
WHERE a.state IN ('active', 'disabled')
    AND lower(a.wait_event) IN ('buffercontent', 'buffer_content')
    AND a.application_name NOT LIKE 'qmon %'
LIMIT 200
