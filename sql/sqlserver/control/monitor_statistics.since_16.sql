-- Lets the watching role read the dynamic views of this database. Those of the server, waits and blocking above all, need
-- VIEW SERVER PERFORMANCE STATE, which only a login can be given.
GRANT VIEW DATABASE PERFORMANCE STATE TO qmon_monitor
