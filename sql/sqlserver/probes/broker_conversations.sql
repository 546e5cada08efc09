-- The conversations of Service Broker in this database, for services that our role may see (VIEW DEFINITION). Reads at
-- most 5,000 conversations, in no order. If both sides end their conversations, there are few.
-- > counted conversations read; 5,000: there may be more
-- > talking of these, conversations that neither side has ended
-- > left    the ones that the other side has ended, and this one has not (disconnected inbound, error)
-- > leaving the ones that this side has ended, and the other has not (disconnected outbound)
SELECT
    COUNT(*) AS counted,
    COALESCE(SUM(CASE WHEN c.state IN ('SO', 'SI', 'CO') THEN 1 ELSE 0 END), 0) AS talking,
    COALESCE(SUM(CASE WHEN c.state IN ('DI', 'ER') THEN 1 ELSE 0 END), 0) AS [left],
    COALESCE(SUM(CASE WHEN c.state = 'DO' THEN 1 ELSE 0 END), 0) AS leaving
FROM (
    SELECT TOP (5000) e.state
    FROM sys.conversation_endpoints AS e
    WHERE e.is_system = 0
) AS c
OPTION (MAXDOP 1)
