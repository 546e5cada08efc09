-- The result of a pop that counts attempts and returns the message's place.
-- {found} the type
-- {type}  the type of a message, without its length
CREATE TYPE {found} AS TABLE (
    id bigint NULL,
    payload {type}(max) NULL,
    attempt         int           NOT NULL,
    title           nvarchar(255) NULL,
    queue_date_time datetime2(3)  NULL
)
