-- What a producer comes to whose ring stayed full: an error that is worth another try later, number 50000, whose text
-- begins with QM003 and whose state is 3. The caller's transaction, if any, goes on. Called by push, which then has
-- pushed nothing.
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
