-- From SQL Server 2019 on: producers that wait for the last page of an index are let in one after the other, without
-- the convoy that a page split starts (PAGELATCH_EX): every push goes to that page, in both tables. In strings, since
-- older tools cannot read the option.
-- {table}    QueueMeta
-- {key}      its primary key
-- {data}     QueueData
-- {data_key} its primary key
EXEC (N'ALTER INDEX ' + {key!literal} + N' ON ' + {table!literal} + N' SET (OPTIMIZE_FOR_SEQUENTIAL_KEY = ON)');
EXEC (N'ALTER INDEX ' + {data_key!literal} + N' ON ' + {data!literal} + N' SET (OPTIMIZE_FOR_SEQUENTIAL_KEY = ON)');
