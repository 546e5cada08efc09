-- A transaction with an id, which keeps VACUUM from removing dead rows until it ends.
-- > xid the transaction's id
SELECT CAST(pg_current_xact_id() AS text) AS xid
