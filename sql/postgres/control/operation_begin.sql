-- Records the start of an operation.
-- :id         its id
-- :kind       kind of the operation
-- :queue      the queue's name
-- :about      the table, slot or session
-- :by         the operator
-- :reason     why
-- :predicate  selected rows, in words
-- :frozen     the frozen values as JSON
-- :planned    number of rows that the plan counted
-- :undo_of    the operation that it undoes
-- :undoable   whether it can be undone
INSERT INTO qmon.operations (
    id, kind, queue, about, by, session_id, session_start, reason, predicate, frozen, planned, undo_of, undoable
)
SELECT :id, :kind, :queue, :about, :by, pg_catalog.pg_backend_pid(),
       (SELECT a.backend_start FROM pg_catalog.pg_stat_activity AS a WHERE a.pid = pg_catalog.pg_backend_pid()),
       :reason, :predicate, CAST(:frozen AS json), CAST(:planned AS bigint), CAST(:undo_of AS text),
       CAST(:undoable AS boolean)
