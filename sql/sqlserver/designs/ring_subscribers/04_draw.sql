-- The next number, on servers without sequences: the identity of a row that is inserted and at once rolled back to a
-- savepoint. The number remains used (identities are not rolled back), and no lock remains (locks since the savepoint
-- are released): like a sequence, and unlike a counter in a row, UPDATE … SET @n = value = value + 1, whose lock would
-- keep all others out until the drawing transaction ends; T-SQL cannot give that its own transaction inside the
-- caller's. It costs two log records a number and the one hot page that the article warns of (PAGELATCH_EX). The other
-- candidates of its comments: sp_user_counter forgets at a restart and belongs to the whole server; @@DBTS moves for
-- every table. Not in a distributed transaction, which knows no savepoints.
-- @side: 0 for producers, k for the consumers of subscriber k. One number at a time, however many are asked for: @count
-- says so.
-- {push_seq} the table of push numbers
-- {readers}  its subscribers
-- {draw}     the procedure
CREATE PROCEDURE {draw}
    @side smallint,
    @number bigint OUTPUT,
    @count int = 1 OUTPUT
AS
BEGIN
    SET NOCOUNT ON;
    DECLARE @name nvarchar(776), @statement nvarchar(max);
    SET @name = {push_seq!literal};
    IF @side > 0
        SET @name = (SELECT r.pop_seq FROM {readers} AS r WHERE r.subscriber = @side);
    SET @statement = N'INSERT INTO ' + @name + N' DEFAULT VALUES; SET @drawn = CONVERT(bigint, SCOPE_IDENTITY());';
    SET @count = 1;
    BEGIN TRANSACTION;
    SAVE TRANSACTION qmon_draw;
    EXEC sys.sp_executesql @statement, N'@drawn bigint OUTPUT', @drawn = @number OUTPUT;
    ROLLBACK TRANSACTION qmon_draw;
    COMMIT TRANSACTION;
END;
