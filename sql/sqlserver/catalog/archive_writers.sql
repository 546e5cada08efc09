-- The running transactions that may have written to an archive: all transactions of the server that are not read-only,
-- except ours. It is safe to include too many: the reader only searches missing rows a little longer.
-- {archive_log}  the archive
-- > writer       transaction id
SELECT CONVERT(nvarchar(20), a.transaction_id) AS writer
FROM sys.dm_tran_active_transactions AS a
WHERE a.transaction_type IN (1, 4)
    AND OBJECT_ID({archive_log!literal}) IS NOT NULL
    AND a.transaction_id NOT IN (
        SELECT r.transaction_id FROM sys.dm_exec_requests AS r WHERE r.session_id = @@SPID AND r.transaction_id IS NOT NULL
    )
ORDER BY a.transaction_id
