-- Takes a split queue away, with its messages and its archive. Refused (RESTRICT) where something else depends on it.
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
DROP FUNCTION {push}(text, text, timestamptz);
DROP FUNCTION {push_batch}(text[], text);
DROP FUNCTION {pop}();
DROP FUNCTION {pop_batch}(integer);
DROP FUNCTION {complete}(bigint, integer);
DROP FUNCTION {complete_batch}(bigint[]);
DROP FUNCTION {fail}(bigint, integer, integer);
DROP FUNCTION {requeue}(double precision, integer, integer);
DROP FUNCTION {archive}(integer);
DROP FUNCTION {owner}();
DROP TABLE {archive_log};
DROP TABLE {data};
DROP TABLE {table};
