-- The argument of complete_batch: ids, each once, with the attempt that pop returned. A table type, since SQL Server
-- has no arrays; callers need EXECUTE on it.
-- {ids} the type
CREATE TYPE {ids} AS TABLE (
    id      bigint NOT NULL PRIMARY KEY,
    attempt int    NOT NULL
);
