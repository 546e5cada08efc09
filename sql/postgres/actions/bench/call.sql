-- Runs one slice of the load in one session: loops inside the server until a given time, and returns the counts.
-- {loop}      the procedure
-- :until      the moment the slice ends, seconds since the epoch on the server's clock
-- :batch      messages at a time
-- :unit       messages in one step of the gate
-- :ahead      steps that producers may be ahead of consumers
-- :bytes      size of a message
-- :carry      messages that the gate does not know of yet, from the slice before
-- > carry     the same, for the next slice
-- > messages  messages pushed, or popped (and completed, if the design completes messages)
-- > missed    pushes into a full ring, pops that found nothing
-- > spent     durations of pushes or pops, including their commits: operations in each bucket of the histogram
-- > completed the same of complete
CALL {loop}(
    CAST(:until AS double precision), CAST(:batch AS integer), CAST(:unit AS bigint), CAST(:ahead AS bigint),
    CAST(:bytes AS integer), CAST(:carry AS bigint), NULL, NULL, NULL, NULL
)
