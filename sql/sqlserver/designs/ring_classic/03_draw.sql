-- The next number, on servers without sequences: the identity of a row that is inserted and at once rolled back to a
-- savepoint. The number remains used (identities are not rolled back), and no lock remains (locks since the savepoint
-- are released): like a sequence, and unlike a counter in a row, UPDATE … SET @n = value = value + 1, whose lock would
-- keep all others out until the drawing transaction ends; T-SQL cannot give that its own transaction inside the
-- caller's. It costs two log records a number and the one hot page that the article warns of (PAGELATCH_EX). The other
-- candidates of its comments: sp_user_counter forgets at a restart and belongs to the whole server; @@DBTS moves for
-- every table. Not in a distributed transaction, which knows no savepoints.
-- @side: 0 for producers, 1 for consumers.
-- {push_seq} the table of push numbers
-- {pop_seq}  the table of pop numbers
-- {draw}     the procedure
CREATE PROCEDURE {draw}
    @side smallint,
    @number bigint OUTPUT
AS
BEGIN
    SET NOCOUNT ON;
    BEGIN TRANSACTION;
    SAVE TRANSACTION qmon_draw;
    IF @side = 0
        INSERT INTO {push_seq} DEFAULT VALUES;
    ELSE
        INSERT INTO {pop_seq} DEFAULT VALUES;
    SET @number = CONVERT(bigint, SCOPE_IDENTITY());
    ROLLBACK TRANSACTION qmon_draw;
    COMMIT TRANSACTION;
END;
