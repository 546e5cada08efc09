-- The error of a producer whose ring stayed full, which can be retried later: number 770003. As push runs with
-- XACT_ABORT ON, the error rolls back the caller's transaction. Called by push, which then has pushed nothing.
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
