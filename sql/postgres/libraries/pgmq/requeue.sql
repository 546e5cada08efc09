-- The messages are visible now (set_vt). If the old consumer is still alive, it deletes or archives the message when it
-- ends.
-- {set_vt}   the library's function
-- :queue     the queue
-- :ids       which, an array as text
-- > id       one that is done
SELECT CAST(done.msg_id AS text) AS id
FROM unnest(CAST(:ids AS bigint[])) AS given(id)
CROSS JOIN LATERAL {set_vt}(CAST(:queue AS text), given.id, 0) AS done
