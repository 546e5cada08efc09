-- The number that this session has taken and still waits with. Servers before 2016 have no place for it: there, push
-- and pop return it in @number, and the caller passes it again; or waits forever, as in the article (@wait_ms NULL).
-- {memory} the procedure
CREATE PROCEDURE {memory}
    @side smallint,
    @number bigint OUTPUT,
    @keep bit = 0
AS
    IF @keep = 0 SET @number = NULL;
