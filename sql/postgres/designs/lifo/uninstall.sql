-- Drops a stack with its messages. Fails (RESTRICT) if something else depends on one of its objects. Skips
-- objects that are already dropped.
-- {table}      the queue; its sequence and its key go with it
-- {push}       function
-- {push_batch} function
-- {pop}        function
-- {pop_batch}  function
DROP FUNCTION IF EXISTS {push}(bytea);
DROP FUNCTION IF EXISTS {push_batch}(bytea[]);
DROP FUNCTION IF EXISTS {pop}();
DROP FUNCTION IF EXISTS {pop_batch}(integer);
DROP TABLE IF EXISTS {table};
