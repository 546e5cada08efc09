-- Pop one message of a design that does not count attempts.
-- {pop}     function of the design
-- > id      its id
-- > payload the message
SELECT CAST(p.id AS text) AS id, p.payload
FROM {pop}() AS p
