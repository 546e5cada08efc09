-- Pop one message of a design that counts attempts.
-- {pop}     function of the design
-- > id      its id
-- > payload the message
-- > attempt which attempt this is
SELECT CAST(p.id AS text) AS id, p.payload, p.attempt
FROM {pop}() AS p
