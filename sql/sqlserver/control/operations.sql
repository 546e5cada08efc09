-- The latest operations, the newest first. A running operation whose session is gone was interrupted; without VIEW
-- SERVER STATE, other sessions are not visible, and their operations keep their state.
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
WITH asked AS (
    SELECT CAST(:id AS varchar(40)) AS id
)
SELECT TOP (CAST(:limit AS bigint))
       o.id, o.kind, o.queue, o.about, o.[by], o.login, o.reason, o.predicate,
       o.frozen, o.planned, o.done, o.skipped, o.changed, o.refused,
       (CAST(DATEDIFF(DAY, '19700101', o.started_at) AS float) * 86400 + DATEDIFF(SECOND, CAST(o.started_at AS date), o.started_at)) + DATEPART(MILLISECOND, o.started_at) / 1000.0E0
           AS started_at,
       (CAST(DATEDIFF(DAY, '19700101', o.ended_at) AS float) * 86400 + DATEDIFF(SECOND, CAST(o.ended_at AS date), o.ended_at)) + DATEPART(MILLISECOND, o.ended_at) / 1000.0E0
           AS ended_at,
       CASE WHEN o.state = 'running'
                 AND (HAS_PERMS_BY_NAME(NULL, NULL, 'VIEW SERVER STATE') = 1 OR o.login = ORIGINAL_LOGIN())
                 AND NOT EXISTS (
                     SELECT 1
                     FROM sys.dm_exec_sessions AS s
                     WHERE s.session_id = o.session_id
                         AND (o.session_start IS NULL OR s.login_time = o.session_start)
                 ) THEN 'interrupted' ELSE o.state END AS state,
       o.notes, o.undo_of, o.undoable, o.undone, o.emptied
FROM qmon.operations AS o
CROSS JOIN asked AS a
WHERE a.id IS NULL OR o.id = a.id
ORDER BY o.started_at DESC, o.id DESC
