SELECT target, queue, timestamp_seconds(start_at) AS start_time,
    pushed / nullif(flow_s, 0) AS push_per_s,
    popped / nullif(flow_s, 0) AS pop_per_s,
    completed / nullif(flow_s, 0) AS complete_per_s,
    ready_s / nullif(ready_known_s, 0) AS ready_mean, ready_max,
    oldest_s / nullif(oldest_known_s, 0) AS oldest_mean, oldest_max,
    in_progress_s / nullif(in_progress_known_s, 0) AS in_progress_mean,
    ready_p50, ready_p95, ready_p99, oldest_p50, oldest_p95, oldest_p99,
    100 * ready_known_s / 86400 AS ready_watched_percent,
    100 * oldest_known_s / 86400 AS oldest_watched_percent,
    100 * flow_s / 86400 AS counters_watched_percent,
    date, bucket
FROM days
