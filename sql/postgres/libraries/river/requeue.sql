-- The messages are available now, and have an attempt left and one more error, as after a rescue by the library.
-- One that was to be cancelled stays. If the old worker is still alive, it ends the job when it ends.
-- {table}    the jobs
-- :ids       which, an array as text
-- > id       one that is done
WITH changed AS (
    UPDATE {table}
    SET state = 'available',
        max_attempts = greatest(max_attempts, attempt + 1),
        scheduled_at = now(),
        errors = array_append(errors, jsonb_build_object(
            'at', now(), 'attempt', attempt, 'error', 'requeued by qmon: stuck', 'trace', ''
        )),
        metadata = metadata || jsonb_build_object(
            'river:rescue_count', coalesce(CAST(metadata ->> 'river:rescue_count' AS integer), 0) + 1
        )
    WHERE id = ANY (CAST(:ids AS bigint[])) AND state = 'running' AND metadata -> 'cancel_attempted_at' IS NULL
    RETURNING id
)
SELECT CAST(id AS text) AS id FROM changed
