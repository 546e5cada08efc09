-- Pop many messages, of a design that does not count attempts.
-- {pop_batch} function of the design
-- :limit      maximum number of rows
-- > id        id
-- > payload   the message
SELECT CAST(p.id AS text) AS id, p.payload
FROM {pop_batch}(:limit) AS p
