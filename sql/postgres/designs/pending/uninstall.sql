-- Drops a pending queue with its messages. Fails (RESTRICT) if something else depends on one of its objects.
-- Skips objects that are already dropped.
-- {table}      the queue; its sequence, its key and its index go with it
-- {push}       function
-- {push_batch} function
-- {pop}        function
-- {pop_batch}  function
DROP FUNCTION IF EXISTS {push}(bytea, timestamptz);
DROP FUNCTION IF EXISTS {push_batch}(bytea[], timestamptz);
DROP FUNCTION IF EXISTS {pop}();
DROP FUNCTION IF EXISTS {pop_batch}(integer);
DROP TABLE IF EXISTS {table};
