-- The sequence that numbers messages: the article's MessageSequence. CACHE is for the whole server, not for a session:
-- numbers are given out in order whatever the cache. A crash loses the rest of the cache, up to 1,000 numbers: these
-- gaps do no harm. A number is not taken back by a rollback either.
-- {seq} the sequence
CREATE SEQUENCE {seq} AS bigint START WITH 1 INCREMENT BY 1 MINVALUE 1 CACHE 1000;
