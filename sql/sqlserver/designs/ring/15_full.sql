-- The error of a producer whose ring stayed full, which can be retried later: number 50000, with a text that begins
-- with QM003 and state 3. The caller's transaction, if any, goes on. Called by push, which then has pushed nothing.
-- {table} the ring
-- {full}  the procedure
CREATE PROCEDURE {full}
AS
BEGIN
    SET NOCOUNT ON;
    DECLARE @queue nvarchar(600);
    SET @queue = {table!literal};
    RAISERROR (N'QM003: the ring %s is full; nothing was done, try again later', 16, 3, @queue);
    RETURN 3;
END;
