-- Pop one message for one subscriber of a ring that has several.
-- {pop}       function of the design
-- :subscriber its number, from 1 on
-- > id        its id
-- > payload   the message
SELECT CAST(p.id AS text) AS id, p.payload
FROM {pop}(CAST(:subscriber AS integer)) AS p
