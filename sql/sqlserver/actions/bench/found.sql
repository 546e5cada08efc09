-- The result of a pop: two columns.
-- {found} the type
-- {type}  the type of a message, without its length
CREATE TYPE {found} AS TABLE (
    id bigint NULL,
    payload {type}(max) NULL
)
