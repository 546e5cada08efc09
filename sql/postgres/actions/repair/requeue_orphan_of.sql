-- Requeues a message for one subscriber whose consumer died. The design's own routine first proves this.
-- {requeue_orphan}  function of the design
-- :number           the message's number
-- :subscriber       the subscriber
-- :wait_ms          milliseconds to wait for the proof and for a free slot
-- > became          its new number; NULL if it is not an orphan, not proven yet, or the ring is full
SELECT {requeue_orphan}(CAST(:number AS bigint), CAST(:subscriber AS int), CAST(:wait_ms AS int)) AS became
