-- The argument of push_batch: many messages, in the order of their positions. A table type, since SQL Server has no
-- arrays; callers need EXECUTE on it.
-- {messages} the type
CREATE TYPE {messages} AS TABLE (
    position int           NOT NULL PRIMARY KEY,
    payload  nvarchar(max) NULL
);
