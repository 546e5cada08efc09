-- The sequences of numbers, the article's PushSequence and PopSequence.
--
-- CACHE is for the whole server, not for a session: numbers are given out in order whatever the cache. A crash (not an
-- orderly shutdown) loses the rest of the cache: with the article's 100,000, a ring of 10,000 slots would be ten laps
-- behind its own numbers. 1,000 writes the system table once in a thousand takes, and a crash leaves up to 1,000 holes
-- on the side of the producers and up to 1,000 orphans on that of the consumers: run repair after one. Each begins with
-- 0, which is taken here and never used: the last number taken, as the server reports it, is then 0 if there is none
-- yet.
-- {push_seq} the sequence of push numbers
-- {pop_seq}  the sequence of pop numbers
CREATE SEQUENCE {push_seq} AS bigint START WITH 0 INCREMENT BY 1 MINVALUE 0 CACHE 1000;
CREATE SEQUENCE {pop_seq} AS bigint START WITH 0 INCREMENT BY 1 MINVALUE 0 CACHE 1000;
EXEC (N'DECLARE @zero bigint; SET @zero = NEXT VALUE FOR ' + {push_seq!literal} + N';');
EXEC (N'DECLARE @zero bigint; SET @zero = NEXT VALUE FOR ' + {pop_seq!literal} + N';');
