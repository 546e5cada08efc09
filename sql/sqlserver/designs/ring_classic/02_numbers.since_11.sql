-- The sequences of numbers, the article's PushSequence and PopSequence, with its CACHE of 100,000. It is for the whole
-- server: numbers are given out in order. A crash loses the rest of the cache, and the ring then stops: see reset. Each
-- begins with 0, which is taken here and never used: the last number taken, as the server reports it, is then 0 if
-- there is none yet. An addition.
-- {push_seq} the sequence of push numbers
-- {pop_seq}  the sequence of pop numbers
CREATE SEQUENCE {push_seq} AS bigint START WITH 0 INCREMENT BY 1 MINVALUE 0 CACHE 100000;
CREATE SEQUENCE {pop_seq} AS bigint START WITH 0 INCREMENT BY 1 MINVALUE 0 CACHE 100000;
EXEC (N'DECLARE @zero bigint; SET @zero = NEXT VALUE FOR ' + {push_seq!literal} + N';');
EXEC (N'DECLARE @zero bigint; SET @zero = NEXT VALUE FOR ' + {pop_seq!literal} + N';');
