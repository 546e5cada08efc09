-- Complete a message: its row is deleted. The article's CompleteMessage.
--
-- @attempt (an addition) is the attempt that pop returned: if a message was requeued and another consumer popped it,
-- the first consumer cannot complete it.
-- Waits only for a session that fails or requeues this message, and these wait for no other session.
-- {table}    the queue
-- {complete} the procedure
-- > done     1, or 0 if it is no longer ours
CREATE PROCEDURE {complete}
    @id bigint,
    @attempt int,
    @done int = NULL OUTPUT,
    @quiet bit = 0
AS
BEGIN
    SET NOCOUNT ON;
    SET XACT_ABORT ON;
    SET TRANSACTION ISOLATION LEVEL READ COMMITTED;

    DELETE FROM {table} WITH (ROWLOCK)
    WHERE id = @id
        AND status = 2
        AND attempts = @attempt
    OPTION (MAXDOP 1, KEEPFIXED PLAN);
    SET @done = @@ROWCOUNT;
    IF @quiet = 0 SELECT @done AS done;
END;
