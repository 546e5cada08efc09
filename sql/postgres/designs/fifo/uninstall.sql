-- Takes a FIFO queue away, with its messages. Refused (RESTRICT) where something else depends on one of its objects.
-- {table}      the queue; its sequence and its key go with it
-- {push}       function
-- {push_batch} function
-- {pop}        function
-- {pop_batch}  function
DROP FUNCTION {push}(bytea);
DROP FUNCTION {push_batch}(bytea[]);
DROP FUNCTION {pop}();
DROP FUNCTION {pop_batch}(integer);
DROP TABLE {table};
