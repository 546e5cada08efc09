-- Requeues a message for one subscriber whose consumer died. The design's own routine first proves this.
-- {requeue_orphan}  procedure of the design
-- :number           the message's number
-- :subscriber       the subscriber
-- :wait_ms          milliseconds to wait for the proof and for a free slot
-- > became          its new number; NULL if it is not an orphan, or not proven yet
DECLARE @became bigint;
EXEC {requeue_orphan} @number = :number, @subscriber = :subscriber, @wait_ms = :wait_ms, @became = @became OUTPUT,
    @quiet = 1;
SELECT @became AS became;
