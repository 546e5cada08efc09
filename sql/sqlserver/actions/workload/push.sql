-- Push one message of the workload. The message is the first parameter, with another name in each design.
-- {push}    procedure of the design
-- :payload  the message, of the type that the procedure takes: SQL Server makes no bytes of text by itself
-- > id      its id; NULL if a ring as published is full
EXEC {push} :payload
