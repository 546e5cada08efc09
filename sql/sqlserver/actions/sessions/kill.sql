-- Ends a session, if it is still the session and the transaction that the plan showed. KILL accepts no parameter, so
-- its text contains the number, checked as a whole number. KILL cannot run within a transaction.
-- If a pool gives a connection to another client, the session keeps its number, and it is not documented whether the
-- login time stays. Then the transaction identifies the session, or without a transaction, the running request.
-- {session!int}         its id
-- {started_us!int}      when it began, microseconds since the epoch
-- {transaction_us!int}  when its oldest transaction began, likewise, or if there is none its request; 0 if it runs none
-- > signalled           1 if the server is rolling it back now; no row if another session has the number now
DECLARE @there int;
SET @there = (
    SELECT COUNT(*)
    FROM sys.dm_exec_sessions AS s
    OUTER APPLY (
        SELECT MIN(a.transaction_begin_time) AS began
        FROM sys.dm_tran_session_transactions AS st
        JOIN sys.dm_tran_active_transactions AS a ON a.transaction_id = st.transaction_id
        WHERE st.session_id = s.session_id
            AND st.is_user_transaction = 1
    ) AS x
    OUTER APPLY (
        SELECT TOP (1) q.start_time
        FROM sys.dm_exec_requests AS q
        WHERE q.session_id = s.session_id
        ORDER BY q.request_id
    ) AS r
    CROSS APPLY (SELECT COALESCE(x.began, r.start_time) AS began) AS w
    WHERE s.session_id = {session!int}
        AND s.session_id <> @@SPID
        AND (CAST(DATEDIFF(DAY, '19700101', s.login_time) AS bigint) * 86400 + DATEDIFF(SECOND, CAST(s.login_time AS date), s.login_time)) * 1000000
            + DATEPART(MILLISECOND, s.login_time) * 1000
            - CAST(DATEPART(TZOFFSET, SYSDATETIMEOFFSET()) AS bigint) * 60000000 = {started_us!int}
        AND COALESCE(
            (CAST(DATEDIFF(DAY, '19700101', w.began) AS bigint) * 86400 + DATEDIFF(SECOND, CAST(w.began AS date), w.began)) * 1000000 + DATEPART(MILLISECOND, w.began) * 1000
                - CAST(DATEPART(TZOFFSET, SYSDATETIMEOFFSET()) AS bigint) * 60000000,
            0
        ) = {transaction_us!int}
);
IF @there = 1 KILL {session!int};
SELECT CAST(1 AS bit) AS signalled WHERE @there = 1;
