-- The latest operations, the newest first. A running operation whose session is gone was interrupted.
-- :id          only this one; NULL: all
-- :limit       maximum number of rows
-- > id         its id
-- > kind       kind of the operation
-- > queue      the queue's name
-- > about      the table, slot or session
-- > by         the operator
-- > login      their login on the server
-- > reason     why
-- > predicate  selected rows, in words
-- > frozen     the frozen values, a JSON object
-- > planned    number of rows that the plan counted
-- > done       number of changed rows
-- > skipped    skipped, because other sessions had locked them
-- > changed    skipped, because they changed after the plan
-- > refused    skipped, because the server refused the change
-- > started_at seconds since the epoch
-- > ended_at   seconds since the epoch
-- > state      running, done, cancelled, interrupted or failed
-- > notes      a JSON array
-- > undo_of    the operation that it undid
-- > undoable   whether it could be undone
-- > undone     rows that were taken back
-- > emptied    rows that were emptied from the trash
SELECT o.id, o.kind, o.queue, o.about, o.by, o.login, o.reason, o.predicate,
       CAST(o.frozen AS text) AS frozen, o.planned, o.done, o.skipped, o.changed, o.refused,
       CAST(extract(epoch FROM o.started_at) AS float8) AS started_at,
       CAST(extract(epoch FROM o.ended_at) AS float8)   AS ended_at,
       CASE WHEN o.state = 'running' AND NOT EXISTS (
                SELECT FROM pg_catalog.pg_stat_activity AS a
                WHERE a.pid = o.session_id
                  AND (a.backend_start IS NULL OR o.session_start IS NULL OR a.backend_start = o.session_start)
            ) THEN 'interrupted' ELSE o.state END       AS state,
       CAST(o.notes AS text)                            AS notes,
       o.undo_of, o.undoable, o.undone, o.emptied
FROM qmon.operations AS o
WHERE CAST(:id AS text) IS NULL OR o.id = :id
ORDER BY o.started_at DESC, o.id DESC
LIMIT :limit
