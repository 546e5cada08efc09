-- Spare numbers: taken by a session that could not use them, and free for any session that can. An addition: because of
-- it, no session has to remember, or wait with, a number that no other session knows.
--
-- A number, once taken, cannot be put back into its sequence. A producer whose slot is still taken, or a consumer whose
-- message has not come, puts its number here and holds nothing; the next session takes the smallest number that can be
-- used, before it takes a new one. So a client that times out, is cancelled or dies while it waits loses no number; and
-- if a session takes a number from here and rolls back, it is here again.
-- side 0: numbers of producers; side k: numbers of the consumers of subscriber k (of a ring with one subscriber: 1). Side
-- -k has one row, whose number is the one up to which subscriber k has popped all: see settle.
-- since: the time from which it is known that a number taken by a producer blocks the queue: for a producer's number
-- its own taking (the slot waits for the number one lap earlier), for a consumer's number the time when a session saw
-- that producers had taken it. IGNORE_DUP_KEY: a consumer that was thought dead may add a number that has been added
-- already. Nearly always empty if producers and consumers keep pace; otherwise one row per waiting
-- session.
-- {spare}     the table
-- {spare_key} its primary key
CREATE TABLE {spare} (
    side   smallint     NOT NULL,
    number bigint       NOT NULL,
    since  datetime2(3) NULL,
    CONSTRAINT {spare_key} PRIMARY KEY CLUSTERED (side, number)
        WITH (ALLOW_PAGE_LOCKS = OFF, STATISTICS_NORECOMPUTE = ON, IGNORE_DUP_KEY = ON)
);
ALTER TABLE {spare} SET (LOCK_ESCALATION = DISABLE);
INSERT INTO {spare} (side, number)
SELECT -v.side, 0
FROM (VALUES (1), (2), (3), (4), (5), (6), (7), (8), (9), (10), (11), (12), (13), (14), (15), (16)) AS v(side);
