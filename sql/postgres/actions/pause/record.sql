-- Records a pause, in place of one of the same side of the same table that is not over. It is in force once the switch
-- is set: see set.
-- {switch}  the sequence that holds the end
-- :queue    the queue's name
-- :about    its table
-- :side     pushers or poppers
-- :until_ms when it ends, milliseconds since the epoch
-- :by       who pauses
-- :reason   why
-- :way      switch or gate
WITH replaced AS (
    UPDATE qmon.pauses
    SET lifted_at = clock_timestamp(), lifted_by = CAST(:by AS text)
    WHERE lifted_at IS NULL
      AND about = CAST(:about AS text)
      AND side = CAST(:side AS text)
      AND until > clock_timestamp()
)
INSERT INTO qmon.pauses (queue, about, side, switch, until, by, reason, way)
VALUES (:queue, CAST(:about AS text), CAST(:side AS text), {switch!literal}::regclass,
        to_timestamp(CAST(:until_ms AS bigint) / 1000.0::float8), CAST(:by AS text), :reason, :way)
