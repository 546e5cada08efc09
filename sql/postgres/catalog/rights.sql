-- The rights that qmon can use, whether our role has each, its purpose, and the GRANT for it. Rights on single tables
-- are not included; they are read for each queue.
-- > name   the role that brings the right
-- > held   our role is a member
-- > gives  its purpose
-- > grant  the statement that gives it
SELECT
    r.name,
    coalesce(pg_has_role(r.name, 'USAGE'), false) AS held,
    r.gives,
    'GRANT ' || r.name || ' TO ' || quote_ident(current_user) AS grant
FROM (
    VALUES
        (1, 'pg_read_all_stats', 'activity of other sessions: waits, blocking, the age of horizon holders, producers and consumers'),
        (2, 'pg_signal_backend', 'ends other sessions')
) AS r(place, name, gives)
ORDER BY r.place
