-- Drops a flag queue with its messages and its archive. Fails (RESTRICT) if something else depends on it. Skips
-- objects that are already dropped.
-- {table}       the queue; its sequence and its key go with it
-- {archive_log} the archive
-- {push}        function
-- {push_batch}  function
-- {pop}         function
-- {pop_batch}   function
-- {archive}     function
DROP FUNCTION IF EXISTS {push}(text);
DROP FUNCTION IF EXISTS {push_batch}(text[]);
DROP FUNCTION IF EXISTS {pop}();
DROP FUNCTION IF EXISTS {pop_batch}(integer);
DROP FUNCTION IF EXISTS {archive}(integer);
DROP TABLE IF EXISTS {archive_log};
DROP TABLE IF EXISTS {table};
