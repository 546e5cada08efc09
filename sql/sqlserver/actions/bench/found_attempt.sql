-- The result of a pop that counts attempts.
-- {found} the type
-- {type}  the type of a message, without its length
CREATE TYPE {found} AS TABLE (
    id bigint NULL,
    payload {type}(max) NULL,
    attempt int NOT NULL
)
