-- Drops a ring for several subscribers with its messages. Fails (RESTRICT) if something else depends on one of
-- its objects. Skips objects that are already dropped.
-- {table}          the ring; its sequences and its key go with it
-- {readers}        its subscribers
-- {push}           function
-- {pop}            function
-- {drawing}        function
-- {skip_hole}      function
-- {fill_hole}      function
-- {requeue_orphan} function
-- {repair}         function
-- {settle}         function
DROP FUNCTION IF EXISTS {push}(text, integer, integer, boolean);
DROP FUNCTION IF EXISTS {pop}(integer, integer);
DROP FUNCTION IF EXISTS {repair}(double precision, integer, integer);
DROP FUNCTION IF EXISTS {requeue_orphan}(bigint, integer, integer);
DROP FUNCTION IF EXISTS {fill_hole}(bigint, integer);
DROP FUNCTION IF EXISTS {settle}(integer, bigint, boolean);
DROP FUNCTION IF EXISTS {skip_hole}(bigint);
DROP FUNCTION IF EXISTS {drawing}(regclass);
DROP TABLE IF EXISTS {readers};
DROP TABLE IF EXISTS {table};
