-- The current states of messages that a redrive has made ready, without deleted messages.
-- {table}        the queue's table
-- {called!list}  columns: the name of a message
-- {state}        column: the state
-- {attempts?}    column: number of pops
-- :ids           which, XML
-- :fresh         whether their attempts began at 0
-- :in_progress   the state value of a message in progress; NULL: there is none
-- :dead          the state value of a dead one
-- :done          the state value of a finished one; NULL: there is none
-- > id           id as text
-- > what         failed, done, or waiting
SET NOCOUNT ON;
DECLARE @ids xml = CAST(CAST(:ids AS nvarchar(max)) AS xml), @fresh bit = :fresh;
DECLARE @in_progress nvarchar(200) = :in_progress, @dead nvarchar(200) = :dead, @done nvarchar(200) = :done;
SELECT {called!list.q}
INTO #wanted
FROM {table} AS q
WHERE 1 = 0
UNION ALL
SELECT {called!list.q}
FROM {table} AS q
WHERE 1 = 0;
INSERT INTO #wanted ({called!list})
SELECT {called!numbered.k}
FROM (
    SELECT r.n.value('@k1', 'nvarchar(450)') AS k1, r.n.value('@k2', 'nvarchar(450)') AS k2,
           r.n.value('@k3', 'nvarchar(450)') AS k3, r.n.value('@k4', 'nvarchar(450)') AS k4,
           r.n.value('@k5', 'nvarchar(450)') AS k5, r.n.value('@k6', 'nvarchar(450)') AS k6,
           r.n.value('@k7', 'nvarchar(450)') AS k7, r.n.value('@k8', 'nvarchar(450)') AS k8
    FROM @ids.nodes('/r') AS r(n)
) AS k;
SELECT v.id, v.what
FROM #wanted AS w
CROSS APPLY (
    SELECT {called!text.q} AS id,
           CASE WHEN q.{state} = CAST(@dead AS {state!type}(200)) THEN 'failed'
                WHEN q.{state} = CAST(@done AS {state!type}(200)) THEN 'done'
                WHEN @fresh = 1 AND {attempts?} > CASE WHEN q.{state} = CAST(@in_progress AS {state!type}(200)) THEN 1 ELSE 0 END
                    THEN 'failed'
                ELSE 'waiting' END AS what
    FROM {table} AS q WITH (FORCESEEK, READUNCOMMITTED)
    WHERE {called!on.w}
) AS v
OPTION (MAXDOP 1, LOOP JOIN)
