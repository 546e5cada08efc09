-- Push one message of the workload.
-- {push}    function of the design
-- :payload  the message
-- > id      its id; NULL if a ring as published is full
SELECT CAST(p.id AS text) AS id
FROM {push}(:payload) AS p(id)
