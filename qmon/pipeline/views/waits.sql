WITH recorded AS (
    SELECT target, date, bucket, recorder, floor(sampled_at / 60) AS minute,
        sum(CASE WHEN poll_s BETWEEN 0 AND 150 THEN poll_s ELSE 0 END) AS seconds
    FROM polls
    GROUP BY target, date, bucket, recorder, floor(sampled_at / 60)
), ranked AS (
    SELECT *, row_number() OVER (
        PARTITION BY target, date, bucket, minute ORDER BY round(seconds, 3) DESC, recorder
    ) AS place
    FROM recorded
), counted AS (
    SELECT polls.target, sampled_at, poll_s, explode(waits) AS wait, polls.date, polls.bucket
    FROM polls JOIN ranked ON place = 1 AND ranked.target = polls.target AND ranked.date = polls.date
        AND ranked.bucket = polls.bucket AND ranked.recorder = polls.recorder AND minute = floor(sampled_at / 60)
)
SELECT target, timestamp_seconds(sampled_at) AS sampled_time, poll_s, wait.event AS event, wait.sessions AS sessions,
    date, bucket
FROM counted
