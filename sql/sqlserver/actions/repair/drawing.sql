-- Open transactions that prevent a proof: none. On SQL Server, the locks of the slot itself prove a hole or an orphan,
-- whatever other transactions do.
-- {sequence}       the sequence
-- > session        session id
-- > application    its application name
-- > transaction_s  seconds since its transaction began
SELECT
    CAST(0 AS int) AS session,
    CAST(N'' AS nvarchar(128)) AS application,
    CAST(NULL AS float) AS transaction_s
WHERE OBJECT_ID({sequence!literal}) IS NULL
    AND 1 = 0
