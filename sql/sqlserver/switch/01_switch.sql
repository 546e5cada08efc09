-- The switch of an installed queue, of any design: the times until which its producers (side 0) and its consumers (side
-- 1) are paused, by the server's clock in UTC. push and pop read it before they take a number; see paused. Read without
-- locks (NOLOCK), so that it takes effect immediately for every session, at any isolation level, and blocks no session.
-- Not paused: a time that is over, so that a pause ends by itself.
-- Its rows are read through push and pop, by ownership: producers need no right on it.
-- {switch}     the table
-- {switch_key} its primary key
CREATE TABLE {switch} (
    side      tinyint      NOT NULL,
    until_utc datetime2(3) NOT NULL,
    CONSTRAINT {switch_key} PRIMARY KEY CLUSTERED (side) WITH (ALLOW_PAGE_LOCKS = OFF, STATISTICS_NORECOMPUTE = ON)
);
ALTER TABLE {switch} SET (LOCK_ESCALATION = DISABLE);
INSERT INTO {switch} (side, until_utc) VALUES (0, '19700101'), (1, '19700101');
-- Who may act on queues may pause them.
IF DATABASE_PRINCIPAL_ID(N'qmon_operator') IS NOT NULL GRANT SELECT, UPDATE ON {switch} TO qmon_operator;
