-- Writes that an operation begins.
-- :id         its id
-- :kind       what is done
-- :queue      the queue's name
-- :about      the table, slot or session
-- :by         the operator
-- :reason     why
-- :predicate  which rows, in words
-- :frozen     the frozen values as JSON
-- :planned    how many the plan counted
-- :undo_of    the operation that it undoes
-- :undoable   whether it can be undone
INSERT INTO qmon.operations (
    id, kind, queue, about, [by], session_id, session_start, reason, predicate, frozen, planned, undo_of, undoable
)
SELECT CAST(:id AS varchar(40)), CAST(:kind AS varchar(40)), CAST(:queue AS nvarchar(128)),
       CAST(:about AS nvarchar(600)), CAST(:by AS nvarchar(400)), @@SPID,
       (SELECT s.login_time FROM sys.dm_exec_sessions AS s WHERE s.session_id = @@SPID),
       CAST(:reason AS nvarchar(max)), CAST(:predicate AS nvarchar(max)), CAST(:frozen AS nvarchar(max)),
       CAST(:planned AS bigint), CAST(:undo_of AS varchar(40)), CAST(:undoable AS bit)
