-- From SQL Server 2019 on: producers that wait for the last page of the index are let in one after the other, without
-- the convoy that a page split starts (PAGELATCH_EX): every push goes to that page. In a string, since older tools
-- cannot read the option.
-- {table} the queue
-- {key}   the index
EXEC (N'ALTER INDEX ' + {key!literal} + N' ON ' + {table!literal} + N' SET (OPTIMIZE_FOR_SEQUENTIAL_KEY = ON)');
