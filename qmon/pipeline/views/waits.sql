WITH each AS (SELECT target, sampled_at, poll_s, explode(waits) AS wait, date, bucket FROM polls)
SELECT target, timestamp_seconds(sampled_at) AS sampled_time, poll_s, wait.event AS event, wait.sessions AS sessions,
    date, bucket
FROM each
