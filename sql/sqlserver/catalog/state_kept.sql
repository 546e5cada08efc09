-- Whether a text column can store a value unchanged: by the code page of its collation, its length, and the code page
-- of the database (the server converts compared values to it). Characters that these lack become question marks. Reads
-- no row.
-- {table} the table
-- {state} column: of type char or varchar
-- :value  the value
-- > kept  it can
SELECT CAST(CASE
    WHEN CAST(ISNULL(
        (SELECT TOP (1) q.{state} FROM {table} AS q WITH (NOLOCK) WHERE 1 = 0), CAST(v.value AS varchar(200))
    ) AS nvarchar(200)) COLLATE Latin1_General_BIN2 = v.value COLLATE Latin1_General_BIN2 THEN 1
    ELSE 0
END AS bit) AS kept
FROM (SELECT CAST(:value AS nvarchar(200)) AS value) AS v
