-- Takes a status queue away, with its messages. Refused (RESTRICT) where something else depends on one of its objects.
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
DROP FUNCTION {push}(bytea);
DROP FUNCTION {push_batch}(bytea[]);
DROP FUNCTION {pop}();
DROP FUNCTION {pop_batch}(integer);
DROP FUNCTION {complete}(bigint, integer);
DROP FUNCTION {complete_batch}(bigint[]);
DROP FUNCTION {fail}(bigint, integer, integer);
DROP FUNCTION {requeue}(double precision, integer, integer);
DROP FUNCTION {owner}();
DROP TABLE {table};
