-- Drops a wide queue with its messages. Fails if a foreign key or a view with SCHEMABINDING depends on it. Skips
-- objects that are already dropped.
-- {table}          the queue; its key and its indexes go with it
-- {archive_log}    the archive
-- {messages}       table type
-- {ids}            table type
-- {push}           procedure
-- {push_batch}     procedure
-- {pop}            procedure
-- {pop_batch}      procedure
-- {complete}       procedure
-- {complete_batch} procedure
-- {fail}           procedure
-- {requeue}        procedure
-- {archive}        procedure
-- {owner}          procedure
IF OBJECT_ID({push!literal}, N'P') IS NOT NULL DROP PROCEDURE {push};
IF OBJECT_ID({push_batch!literal}, N'P') IS NOT NULL DROP PROCEDURE {push_batch};
IF OBJECT_ID({pop!literal}, N'P') IS NOT NULL DROP PROCEDURE {pop};
IF OBJECT_ID({pop_batch!literal}, N'P') IS NOT NULL DROP PROCEDURE {pop_batch};
IF OBJECT_ID({complete!literal}, N'P') IS NOT NULL DROP PROCEDURE {complete};
IF OBJECT_ID({complete_batch!literal}, N'P') IS NOT NULL DROP PROCEDURE {complete_batch};
IF OBJECT_ID({fail!literal}, N'P') IS NOT NULL DROP PROCEDURE {fail};
IF OBJECT_ID({requeue!literal}, N'P') IS NOT NULL DROP PROCEDURE {requeue};
IF OBJECT_ID({archive!literal}, N'P') IS NOT NULL DROP PROCEDURE {archive};
IF OBJECT_ID({owner!literal}, N'P') IS NOT NULL DROP PROCEDURE {owner};
IF TYPE_ID({messages!literal}) IS NOT NULL DROP TYPE {messages};
IF TYPE_ID({ids!literal}) IS NOT NULL DROP TYPE {ids};
IF OBJECT_ID({archive_log!literal}, N'U') IS NOT NULL DROP TABLE {archive_log};
IF OBJECT_ID({table!literal}, N'U') IS NOT NULL DROP TABLE {table};
