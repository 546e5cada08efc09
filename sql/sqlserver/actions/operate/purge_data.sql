-- Moves the other half of split messages into the trash: the rows of the second table that belong to rows of the first
-- table.
-- {table}         the queue's table
-- {key!list}      columns: the key of such a row
-- {id}            column: the id
-- {data_table}    the second table
-- {data_id}       column of the second table: the id
-- {trash}         qmon's table for that
-- {columns!list}  all columns of the second table
-- :keys           keys of the messages, XML
-- :operation      the operation
-- > done          number of moved messages
SET NOCOUNT ON;
DECLARE @keys xml = CAST(CAST(:keys AS nvarchar(max)) AS xml);
SELECT CAST(N'' AS nvarchar(max)) AS qmon_key, CAST(N'' AS nvarchar(max)) AS qmon_version, {key!list.q}
INTO #wanted
FROM {table} AS q
WHERE 1 = 0
UNION ALL
SELECT CAST(N'' AS nvarchar(max)), CAST(N'' AS nvarchar(max)), {key!list.q}
FROM {table} AS q
WHERE 1 = 0;
INSERT INTO #wanted (qmon_key, qmon_version, {key!list})
SELECT k.k, k.v, {key!numbered.k}
FROM (
    SELECT r.n.value('@k1', 'nvarchar(450)') AS k1, r.n.value('@k2', 'nvarchar(450)') AS k2,
           r.n.value('@k3', 'nvarchar(450)') AS k3, r.n.value('@k4', 'nvarchar(450)') AS k4,
           r.n.value('@k5', 'nvarchar(450)') AS k5, r.n.value('@k6', 'nvarchar(450)') AS k6,
           r.n.value('@k7', 'nvarchar(450)') AS k7, r.n.value('@k8', 'nvarchar(450)') AS k8,
           r.n.value('@k', 'nvarchar(max)') AS k, r.n.value('@v', 'nvarchar(max)') AS v
    FROM @keys.nodes('/r') AS r(n)
) AS k;
DECLARE @operation varchar(40) = :operation;
DELETE d
OUTPUT @operation, {columns!list.deleted} INTO {trash} (qmon_operation, {columns!list})
FROM {data_table} AS d WITH (ROWLOCK, READPAST, READCOMMITTEDLOCK)
WHERE d.{data_id} IN (
    SELECT q.{id}
    FROM #wanted AS w
    INNER LOOP JOIN {table} AS q WITH (FORCESEEK, ROWLOCK, READPAST, READCOMMITTEDLOCK) ON {key!on.w}
)
OPTION (MAXDOP 1);
SELECT @@ROWCOUNT AS done
