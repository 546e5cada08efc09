-- Push one message of the workload. Its parameter has another name in each design, and is the first.
-- {push}    procedure of the design
-- :payload  the message, of the type that the procedure takes: SQL Server makes no bytes of text by itself
-- > id      its id; NULL if a ring as published is full
EXEC {push} :payload
