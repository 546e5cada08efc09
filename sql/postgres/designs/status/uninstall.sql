-- Drops a status queue with its messages. Fails (RESTRICT) if something else depends on one of its objects. Skips
-- objects that are already dropped.
-- {table}          the queue; its sequence, its key and its indexes go with it
-- {owner}          function
-- {push}           function
-- {push_batch}     function
-- {pop}            function
-- {pop_batch}      function
-- {complete}       function
-- {complete_batch} function
-- {fail}           function
-- {requeue}        function
DROP FUNCTION IF EXISTS {push}(bytea);
DROP FUNCTION IF EXISTS {push_batch}(bytea[]);
DROP FUNCTION IF EXISTS {pop}();
DROP FUNCTION IF EXISTS {pop_batch}(integer);
DROP FUNCTION IF EXISTS {complete}(bigint, integer);
DROP FUNCTION IF EXISTS {complete_batch}(bigint[], integer[]);
DROP FUNCTION IF EXISTS {fail}(bigint, integer, integer);
DROP FUNCTION IF EXISTS {requeue}(double precision, integer, integer);
DROP FUNCTION IF EXISTS {owner}();
DROP TABLE IF EXISTS {table};
