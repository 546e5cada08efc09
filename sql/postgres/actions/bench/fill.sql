-- Pushes a batch of messages of random sizes, for the comparison of batch dequeues. The text is random, because the
-- server would compress other text.
-- {push_batch} function of the design
-- :rows        messages
-- :bytes       size of the largest
-- > pushed     number
WITH pool AS MATERIALIZED (
    SELECT string_agg(translate(encode(sha512(CAST(random() || ' ' || n AS bytea)), 'base64'), E'\n', ''), '') AS text
    FROM generate_series(1, 2 * CAST(:bytes AS integer) / 86 + 2) AS n
)
SELECT CAST(count(*) AS integer) AS pushed
FROM {push_batch}(ARRAY(
    SELECT substr(
        p.text,
        1 + CAST(floor(random() * CAST(:bytes AS integer)) AS integer),
        1 + CAST(floor(random() * CAST(:bytes AS integer)) AS integer)
    )
    FROM pool AS p
    CROSS JOIN generate_series(1, CAST(:rows AS integer)) AS n
))
