-- The columns of a queue's table, in order; no rows if it is not a user table.
-- {table}        the table
-- > column_name  the column's name
-- > type_name    its type, with length; an alias type counts as its base type
-- > generated    the server computes it: it cannot be written
-- > lost         its value cannot be kept at all: a row version
-- > not_null     it takes no NULL
SELECT CAST(c.name AS nvarchar(128))                                                                AS column_name,
       CAST(COALESCE(TYPE_NAME(c.system_type_id), t.name) AS nvarchar(128)) + N'(' + CONVERT(nvarchar(10), c.max_length) + N','
           + CONVERT(nvarchar(10), c.precision) + N',' + CONVERT(nvarchar(10), c.scale) + N')'      AS type_name,
       CAST(CASE WHEN c.is_computed = 1 OR COLUMNPROPERTY(c.object_id, c.name, 'GeneratedAlwaysType') > 0
                 THEN 1 ELSE 0 END AS bit)                                                          AS generated,
       CAST(CASE WHEN c.system_type_id = 189 THEN 1 ELSE 0 END AS bit)                              AS lost,
       CAST(CASE WHEN c.is_nullable = 1 THEN 0 ELSE 1 END AS bit)                                   AS not_null
FROM sys.columns AS c
JOIN sys.types AS t ON t.user_type_id = c.user_type_id
WHERE c.object_id = OBJECT_ID({table!literal}, N'U')
ORDER BY c.column_id
