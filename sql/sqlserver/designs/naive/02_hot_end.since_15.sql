-- From SQL Server 2019 on: producers wait for the last page of the index one after the other, without the convoy after
-- a page split (PAGELATCH_EX), because every push goes to that page. The statement is a string, because older tools
-- cannot read the option.
-- {table} the queue
-- {key}   the index
EXEC (N'ALTER INDEX ' + {key!literal} + N' ON ' + {table!literal} + N' SET (OPTIMIZE_FOR_SEQUENTIAL_KEY = ON)');
