-- The sizes of a queue's table and its indexes. Measuring waits for sessions that lock the table, so each table is
-- measured separately. The size of a parent is the sum of its partitions, and the size of a parent's index is the sum
-- of the partitions' indexes.
-- :table_id   the table
-- > table_id  as asked
-- > index_id  the index; 0: the table itself
-- > bytes     its size
WITH RECURSIVE part AS (
    SELECT r.root, r.id
    FROM (
        SELECT CAST(0 AS oid) AS root, CAST(:table_id AS oid) AS id
        UNION ALL
        SELECT i.indexrelid, i.indexrelid
        FROM pg_index AS i
        WHERE i.indrelid = CAST(:table_id AS oid)
    ) AS r
    UNION ALL
    SELECT p.root, i.inhrelid
    FROM part AS p
    JOIN pg_inherits AS i ON i.inhparent = p.id
)
SELECT
    CAST(:table_id AS bigint) AS table_id,
    CAST(p.root AS bigint) AS index_id,
    CAST(sum(CASE p.root WHEN 0 THEN pg_table_size(p.id) ELSE pg_relation_size(p.id) END) AS bigint) AS bytes
FROM part AS p
GROUP BY p.root
