-- Drops a classic ring with its messages. Fails (RESTRICT) if something else depends on one of its objects. Skips
-- objects that are already dropped.
-- {table} the ring; its sequences and its key go with it
-- {push}  function
-- {pop}   function
-- {reset} function
DROP FUNCTION IF EXISTS {push}(text, integer);
DROP FUNCTION IF EXISTS {pop}(integer, integer);
DROP FUNCTION IF EXISTS {reset}();
DROP TABLE IF EXISTS {table};
