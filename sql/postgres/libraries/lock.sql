-- Locks the given messages that have not changed since the plan. Skips rows locked by other sessions.
-- {table}     the table of messages
-- {id}        column: the id
-- {key}       the same, as a name alone
-- {queue?}    column: the queue
-- {since?}    column: start time of this state
-- {owner?}    column: its consumer
-- {attempts?} column: number of pops
-- {rows!where}     condition: the row is in this state
-- {still!where}    condition: other facts about it, such as a dead worker
-- :queue      the queue, NULL for the whole table
-- :ids        these, a JSON array of rows
-- :keys       their ids, an array as text
-- :versions   which version of each is meant, an array as text
-- > key       the id of a message that has not changed since the plan
-- > locked    true: we have locked it; false: another session has
WITH same AS MATERIALIZED (
    SELECT q.{key} AS id, {id!text} AS key
    FROM {table} AS q
    WHERE q.{key} IN (
          SELECT g.{key} FROM jsonb_populate_recordset(CAST(NULL AS {table}), CAST(:ids AS jsonb)) AS g
      )
      AND (CAST(:queue AS text) IS NULL OR {queue?!text} = :queue)
      AND {rows!where}
      AND {still!where}
      AND ({id!text}, concat_ws('/', {owner?!text}, CAST({attempts?} AS bigint), extract(epoch FROM {since?!utc}),
              CASE WHEN coalesce({owner?!text}, CAST({since?!utc} AS text)) IS NULL THEN q.xmin END))
          IN (SELECT w.id, w.version FROM unnest(CAST(:keys AS text[]), CAST(:versions AS text[])) AS w(id, version))
), ours AS MATERIALIZED (
    SELECT {id!text} AS key
    FROM {table} AS q
    WHERE q.{key} IN (SELECT s.id FROM same AS s)
      AND (CAST(:queue AS text) IS NULL OR {queue?!text} = :queue)
      AND {rows!where}
      AND {still!where}
      -- once more, of the version that is locked
      AND ({id!text}, concat_ws('/', {owner?!text}, CAST({attempts?} AS bigint), extract(epoch FROM {since?!utc}),
              CASE WHEN coalesce({owner?!text}, CAST({since?!utc} AS text)) IS NULL THEN q.xmin END))
          IN (SELECT w.id, w.version FROM unnest(CAST(:keys AS text[]), CAST(:versions AS text[])) AS w(id, version))
    FOR UPDATE OF q SKIP LOCKED
)
SELECT s.key, o.key IS NOT NULL AS locked
FROM same AS s
LEFT JOIN ours AS o ON o.key = s.key
