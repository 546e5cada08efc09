-- The next number of a side: 0 for producers, 1 for consumers. Its own procedure, since servers before 2012 do it
-- otherwise.
-- {push_seq} the sequence of push numbers
-- {pop_seq}  the sequence of pop numbers
-- {draw}     the procedure
CREATE PROCEDURE {draw}
    @side smallint,
    @number bigint OUTPUT
AS
    IF @side = 0
        SET @number = NEXT VALUE FOR {push_seq};
    ELSE
        SET @number = NEXT VALUE FOR {pop_seq};
