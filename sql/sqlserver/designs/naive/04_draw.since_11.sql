-- The next number. Its own procedure, since servers before 2012 do it otherwise.
-- {seq}  the sequence
-- {draw} the procedure
CREATE PROCEDURE {draw}
    @number bigint OUTPUT
AS
    SET @number = NEXT VALUE FOR {seq};
