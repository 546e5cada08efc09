-- Pop up to @limit messages, any of them. An addition: the article pops one at a time. The hints are those of pop.
-- {table}     the queue
-- {pop_batch} the procedure
-- > id        NULL: a heap gives no id
-- > payload   the message
CREATE PROCEDURE {pop_batch}
    @limit int
AS
BEGIN
    SET NOCOUNT ON;
    SET XACT_ABORT ON;
    SET TRANSACTION ISOLATION LEVEL READ COMMITTED;

    DELETE TOP (@limit) FROM {table} WITH (ROWLOCK, UPDLOCK, READPAST, READCOMMITTEDLOCK)
    OUTPUT CAST(NULL AS bigint) AS id, deleted.payload AS payload
    OPTION (MAXDOP 1, KEEPFIXED PLAN);
END;
