-- Pops a batch and returns its messages.
-- {pop_batch} function of the design
-- :limit      maximum number of rows
-- > id        id
-- > payload   the message
SELECT CAST(p.id AS text) AS id, p.payload
FROM {pop_batch}(CAST(:limit AS integer)) AS p
