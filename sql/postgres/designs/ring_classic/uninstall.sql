-- Takes a classic ring away, with its messages. Refused (RESTRICT) where something else depends on one of its objects;
-- what somebody has dropped already is passed over.
-- {table} the ring; its sequences and its key go with it
-- {push}  function
-- {pop}   function
-- {reset} function
DROP FUNCTION IF EXISTS {push}(text, integer);
DROP FUNCTION IF EXISTS {pop}(integer, integer);
DROP FUNCTION IF EXISTS {reset}();
DROP TABLE IF EXISTS {table};
