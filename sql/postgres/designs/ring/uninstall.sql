-- Takes a ring away, with its messages. Refused (RESTRICT) where something else depends on one of its objects.
-- {table}          the ring; its sequences and its key go with it
-- {push}           function
-- {pop}            function
-- {drawing}        function
-- {skip_hole}      function
-- {fill_hole}      function
-- {requeue_orphan} function
-- {repair}         function
DROP FUNCTION {push}(text, integer);
DROP FUNCTION {pop}(integer);
DROP FUNCTION {repair}(double precision, integer, integer);
DROP FUNCTION {requeue_orphan}(bigint, integer);
DROP FUNCTION {fill_hole}(bigint, integer);
DROP FUNCTION {skip_hole}(bigint);
DROP FUNCTION {drawing}(regclass);
DROP TABLE {table};
