WITH gaps AS (
    SELECT *, max(last_at) OVER (
        PARTITION BY target, queue ORDER BY first_at, last_at ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
    ) AS until_at
    FROM runs
), numbered AS (
    SELECT *, sum(CASE WHEN until_at IS NULL OR first_at - until_at > 120 THEN 1 ELSE 0 END) OVER (
        PARTITION BY target, queue ORDER BY first_at, last_at ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
    ) AS stretch
    FROM gaps
), verdicts AS (
    SELECT target, queue, stretch, code, max(severity) AS severity, sum(samples) AS samples,
        min(since_at) AS since_at, max(last_at) AS last_at, max(peak_ready) AS peak_ready,
        min_by(proof, proof_at) AS proof
    FROM numbered
    GROUP BY target, queue, stretch, code
), ranked AS (
    SELECT *, row_number() OVER (
        PARTITION BY target, queue, stretch ORDER BY severity DESC, samples DESC, code
    ) AS place
    FROM verdicts
)
SELECT target, queue, timestamp_seconds(min(since_at)) AS start_time, timestamp_seconds(max(last_at)) AS end_time,
    min(since_at) AS start_at, max(last_at) AS end_at, max(severity) AS severity,
    max(CASE WHEN place = 1 THEN code END) AS cause, max(CASE WHEN place = 1 THEN proof END) AS proof,
    max(peak_ready) AS peak_ready
FROM ranked
GROUP BY target, queue, stretch
