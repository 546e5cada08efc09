-- Takes a status queue away, with its messages. Refused (RESTRICT) where something else depends on one of its objects;
-- what somebody has dropped already is passed over.
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
