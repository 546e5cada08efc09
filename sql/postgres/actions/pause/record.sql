-- Records a pause. It replaces a current pause of the same side of the same table. The pause begins when the switch is
-- set: see set.
-- {switch}  the sequence that holds the end
-- :queue    the queue's name
-- :about    its table
-- :side     producers or consumers
-- :until_ms when it ends, milliseconds since the epoch
-- :by       the operator who pauses
-- :reason   why
-- :way      switch or gate
WITH given AS MATERIALIZED (
    SELECT CAST(:about AS pg_catalog.text) AS about, CAST(:side AS pg_catalog.text) AS side,
           CAST(:by AS pg_catalog.text) AS by
),
replaced AS MATERIALIZED (
    SELECT qmon.lift_pauses(g.about, g.side, g.by) AS lifted
    FROM given AS g
)
INSERT INTO qmon.pauses (queue, about, side, switch, until, by, reason, way)
SELECT :queue, g.about, g.side, CAST({switch!literal} AS pg_catalog.regclass),
       pg_catalog.to_timestamp(CAST(:until_ms AS pg_catalog.int8) / CAST(1000.0 AS pg_catalog.float8)), g.by, :reason, :way
FROM given AS g
CROSS JOIN replaced
