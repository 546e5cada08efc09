-- The error of a producer whose ring stayed full, which can be retried later: number 770003. push calls this procedure
-- before it pushes. Because push runs with XACT_ABORT ON, the error rolls back the caller's transaction.
-- {table} the ring
-- {full}  the procedure
CREATE PROCEDURE {full}
AS
BEGIN
    SET NOCOUNT ON;
    DECLARE @text nvarchar(2000);
    SET @text = N'QM003: the ring ' + {table!literal} + N' is full; nothing was done, try again later';
    THROW 770003, @text, 1;
END;
