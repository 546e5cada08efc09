-- Drops a strict FIFO queue with its messages. Fails if a foreign key or a view with SCHEMABINDING depends on it.
-- Skips objects that are already dropped.
-- {table}      the queue; its key goes with it
-- {messages}   table type
-- {push}       procedure
-- {push_batch} procedure
-- {pop}        procedure
-- {pop_batch}  procedure
IF OBJECT_ID({push!literal}, N'P') IS NOT NULL DROP PROCEDURE {push};
IF OBJECT_ID({push_batch!literal}, N'P') IS NOT NULL DROP PROCEDURE {push_batch};
IF OBJECT_ID({pop!literal}, N'P') IS NOT NULL DROP PROCEDURE {pop};
IF OBJECT_ID({pop_batch!literal}, N'P') IS NOT NULL DROP PROCEDURE {pop_batch};
IF TYPE_ID({messages!literal}) IS NOT NULL DROP TYPE {messages};
IF OBJECT_ID({table!literal}, N'U') IS NOT NULL DROP TABLE {table};
