-- Numbers on servers without sequences (before 2012): tables that supply identities and never contain a row, one for
-- the producers and one for each subscriber; see draw. Called as the sequences are on later servers.
-- {table}           the ring
-- {push_seq}        the table of push numbers
-- {readers}         its subscribers
-- {readers_key}     their primary key
-- {subscribers!int} number of subscribers, 1 to 16
CREATE TABLE {push_seq} (number bigint IDENTITY(0, 1) NOT NULL);
INSERT INTO {push_seq} DEFAULT VALUES;
DELETE FROM {push_seq};

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
    SET @statement = N'CREATE TABLE ' + @name + N' (number bigint IDENTITY(0, 1) NOT NULL); INSERT INTO ' + @name
        + N' DEFAULT VALUES; DELETE FROM ' + @name + N';';
    EXEC (@statement);
    INSERT INTO {readers} (subscriber, pop_seq) VALUES (@subscriber, @name);
    SET @subscriber = @subscriber + 1;
END;
