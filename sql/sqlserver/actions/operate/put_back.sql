-- Puts rows of the trash that we have locked back into the queue, and returns which of them were restored: the rows
-- themselves stay in the trash until take_out. The restored rows are read from the table, after its triggers. If a
-- login may not write the table's identity, a procedure puts the rows back: see control/07_put_back.
-- {table}          the queue's table
-- {trash}          qmon's table for that
-- {key!list}       columns: the key of a row
-- {columns!list}   the columns that can be written
-- {certain!list}   those of them that must be restored unchanged
-- :rows            rows of the trash, XML
-- > done           number of restored rows
-- > other          of these: rows with another value in such a column
-- > altered        of these: rows with another value in any column
-- > places         nothing: rows are known by their key
SET NOCOUNT ON;
DECLARE @rows xml = CAST(CAST(:rows AS nvarchar(max)) AS xml);
DECLARE @done bigint, @other bigint, @altered bigint;
SELECT q.qmon_row, {columns!list.q}
INTO #back
FROM {trash} AS q
WHERE q.qmon_row IN (SELECT r.n.value('@k', 'bigint') FROM @rows.nodes('/r') AS r(n));
DECLARE @table int = OBJECT_ID({table!literal}), @trash int = OBJECT_ID({trash!literal});
DECLARE @identity bit = OBJECTPROPERTY(@table, 'TableHasIdentity');
IF @identity = 1 AND HAS_PERMS_BY_NAME({table!literal}, N'OBJECT', N'ALTER') = 0
    EXEC qmon.put_back @table = @table, @trash = @trash, @rows = @rows;
ELSE
BEGIN
    IF @identity = 1
        SET IDENTITY_INSERT {table} ON;
    INSERT INTO {table} ({columns!list})
    SELECT {columns!list.b}
    FROM #back AS b;
    IF @identity = 1
        SET IDENTITY_INSERT {table} OFF;
END;
SELECT @done = COUNT_BIG(*)
FROM #back AS b
INNER LOOP JOIN {table} AS q WITH (FORCESEEK, ROWLOCK, READPAST, READCOMMITTEDLOCK) ON {key!on.b};
SELECT @other = COUNT_BIG(*)
FROM #back AS b
INNER LOOP JOIN {table} AS q WITH (FORCESEEK, ROWLOCK, READPAST, READCOMMITTEDLOCK) ON {key!on.b}
WHERE CONVERT(nvarchar(max), (SELECT {certain!list.q} FOR XML RAW, BINARY BASE64)) COLLATE Latin1_General_BIN
    <> CONVERT(nvarchar(max), (SELECT {certain!list.b} FOR XML RAW, BINARY BASE64)) COLLATE Latin1_General_BIN;
SELECT @altered = COUNT_BIG(*)
FROM #back AS b
INNER LOOP JOIN {table} AS q WITH (FORCESEEK, ROWLOCK, READPAST, READCOMMITTEDLOCK) ON {key!on.b}
WHERE CONVERT(nvarchar(max), (SELECT {columns!list.q} FOR XML RAW, BINARY BASE64)) COLLATE Latin1_General_BIN
    <> CONVERT(nvarchar(max), (SELECT {columns!list.b} FOR XML RAW, BINARY BASE64)) COLLATE Latin1_General_BIN;
SELECT @done AS done, @other AS other, @altered AS altered, N'' AS places
