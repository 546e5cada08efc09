-- The sequence of push numbers, and a sequence of pop numbers for each subscriber, called like the ring with
-- _pop_seq_1, _pop_seq_2 … behind; the table has the subscribers, numbered from 1, and these names, ready to be used
-- in a statement.
--
-- CACHE is for the whole server, not for a session: numbers are given out in order whatever the cache. A crash (not an
-- orderly shutdown) loses the rest of the cache: with the article's 100,000, a ring of 10,000 slots would be ten laps
-- behind its own numbers. 1,000 writes the system table once in a thousand takes, and a crash leaves up to 1,000 holes
-- on the side of the producers and up to 1,000 orphans on that of the consumers: run repair after one. Each begins with
-- 0, which is taken here and never used: the last number taken, as the server reports it, is then 0 if there is none
-- yet.
-- {table}           the ring
-- {push_seq}        the sequence of push numbers
-- {readers}         its subscribers
-- {readers_key}     their primary key
-- {subscribers!int} number of subscribers, 1 to 16
CREATE SEQUENCE {push_seq} AS bigint START WITH 0 INCREMENT BY 1 MINVALUE 0 CACHE 1000;

CREATE TABLE {readers} (
    subscriber smallint      NOT NULL,
    pop_seq    nvarchar(776) NOT NULL,
    CONSTRAINT {readers_key} PRIMARY KEY CLUSTERED (subscriber)
);

DECLARE @subscriber smallint, @name nvarchar(776), @statement nvarchar(max);
SET @subscriber = 1;
WHILE @subscriber <= {subscribers!int}
BEGIN
    SET @name = QUOTENAME(OBJECT_SCHEMA_NAME(OBJECT_ID({table!literal}))) + N'.'
        + QUOTENAME(OBJECT_NAME(OBJECT_ID({table!literal})) + N'_pop_seq_' + CONVERT(nvarchar(6), @subscriber));
    SET @statement = N'CREATE SEQUENCE ' + @name
        + N' AS bigint START WITH 0 INCREMENT BY 1 MINVALUE 0 CACHE 1000;'
        + N' EXEC (N''DECLARE @zero bigint; SET @zero = NEXT VALUE FOR ' + REPLACE(@name, N'''', N'''''') + N';'');';
    EXEC (@statement);
    INSERT INTO {readers} (subscriber, pop_seq) VALUES (@subscriber, @name);
    SET @subscriber = @subscriber + 1;
END;

EXEC (N'DECLARE @zero bigint; SET @zero = NEXT VALUE FOR ' + {push_seq!literal} + N';');
