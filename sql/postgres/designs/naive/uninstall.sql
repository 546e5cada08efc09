-- Takes a naive queue away, with its messages. Refused (RESTRICT) where something else depends on one of its objects.
-- {table}      the queue; its sequence and its key go with it
-- {push}       function
-- {push_batch} function
-- {pop}        function
-- {pop_batch}  function
DROP FUNCTION {push}(text);
DROP FUNCTION {push_batch}(text[]);
DROP FUNCTION {pop}();
DROP FUNCTION {pop_batch}(integer);
DROP TABLE {table};
