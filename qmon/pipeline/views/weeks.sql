WITH entries AS (
    SELECT target, queue, CAST(date_trunc('week', date) AS DATE) AS week, 'ready' AS figure,
        explode(map_entries(ready_ms)) AS entry
    FROM days
    UNION ALL
    SELECT target, queue, CAST(date_trunc('week', date) AS DATE) AS week, 'oldest' AS figure,
        explode(map_entries(oldest_ms)) AS entry
    FROM days
), lasted AS (
    SELECT target, queue, week, figure, entry.key AS value, sum(entry.value) AS ms
    FROM entries
    GROUP BY target, queue, week, figure, entry.key
), placed AS (
    SELECT *, sum(ms) OVER (PARTITION BY target, queue, week, figure ORDER BY value) AS so_far,
        sum(ms) OVER (PARTITION BY target, queue, week, figure) AS whole
    FROM lasted
), tails AS (
    SELECT target, queue, week,
        min(CASE WHEN figure = 'ready' AND so_far >= 0.5 * whole THEN value END) AS ready_p50,
        min(CASE WHEN figure = 'ready' AND so_far >= 0.95 * whole THEN value END) AS ready_p95,
        min(CASE WHEN figure = 'ready' AND so_far >= 0.99 * whole THEN value END) AS ready_p99,
        min(CASE WHEN figure = 'oldest' AND so_far >= 0.5 * whole THEN value END) AS oldest_p50,
        min(CASE WHEN figure = 'oldest' AND so_far >= 0.95 * whole THEN value END) AS oldest_p95,
        min(CASE WHEN figure = 'oldest' AND so_far >= 0.99 * whole THEN value END) AS oldest_p99
    FROM placed
    GROUP BY target, queue, week
), sums AS (
    SELECT target, queue, CAST(date_trunc('week', date) AS DATE) AS week, sum(seconds) AS seconds,
        sum(flow_s) AS flow_s, sum(pushed) AS pushed, sum(popped) AS popped, sum(completed) AS completed,
        sum(ready_s) AS ready_s, sum(ready_known_s) AS ready_known_s, max(ready_max) AS ready_max,
        sum(oldest_s) AS oldest_s, sum(oldest_known_s) AS oldest_known_s, max(oldest_max) AS oldest_max
    FROM days
    GROUP BY target, queue, CAST(date_trunc('week', date) AS DATE)
)
SELECT * FROM sums LEFT JOIN tails USING (target, queue, week)
