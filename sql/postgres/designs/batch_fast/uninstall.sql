-- Drops a split queue with its messages and its archive. Fails (RESTRICT) if something else depends on it. Skips
-- objects that are already dropped.
-- {table}          QueueMeta; its sequence, its key and its indexes go with it
-- {data}           QueueData
-- {archive_log}    the archive
-- {owner}          function
-- {push}           function
-- {push_batch}     function
-- {pop}            function
-- {pop_batch}      function
-- {complete}       function
-- {complete_batch} function
-- {fail}           function
-- {requeue}        function
-- {archive}        function
DROP FUNCTION IF EXISTS {push}(text, text, timestamptz);
DROP FUNCTION IF EXISTS {push_batch}(text[], text);
DROP FUNCTION IF EXISTS {pop}();
DROP FUNCTION IF EXISTS {pop_batch}(integer);
DROP FUNCTION IF EXISTS {complete}(bigint, integer);
DROP FUNCTION IF EXISTS {complete_batch}(bigint[], integer[]);
DROP FUNCTION IF EXISTS {fail}(bigint, integer, integer);
DROP FUNCTION IF EXISTS {requeue}(double precision, integer, integer);
DROP FUNCTION IF EXISTS {archive}(integer);
DROP FUNCTION IF EXISTS {owner}();
DROP TABLE IF EXISTS {archive_log};
DROP TABLE IF EXISTS {data};
DROP TABLE IF EXISTS {table};
