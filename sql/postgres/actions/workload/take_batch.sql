-- Pop many messages, of a design that counts attempts.
-- {pop_batch} function of the design
-- :limit      maximum number of rows
-- > id        id
-- > payload   the message
-- > attempt   which attempt this is
SELECT CAST(p.id AS text) AS id, p.payload, p.attempt
FROM {pop_batch}(:limit) AS p
