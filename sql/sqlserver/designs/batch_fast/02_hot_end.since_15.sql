-- From SQL Server 2019 on: producers wait for the last page of an index one after the other, without the convoy after a
-- page split (PAGELATCH_EX), because every push goes to the last page of both tables. The statements are strings,
-- because older tools cannot read the option.
-- {table}    QueueMeta
-- {key}      its primary key
-- {data}     QueueData
-- {data_key} its primary key
EXEC (N'ALTER INDEX ' + {key!literal} + N' ON ' + {table!literal} + N' SET (OPTIMIZE_FOR_SEQUENTIAL_KEY = ON)');
EXEC (N'ALTER INDEX ' + {data_key!literal} + N' ON ' + {data!literal} + N' SET (OPTIMIZE_FOR_SEQUENTIAL_KEY = ON)');
