-- The last number taken on a side (0: producers, k: subscriber k); 0 before the first. NULL if the caller may not see
-- the table of the numbers.
-- {push_seq} the table of push numbers
-- {readers}  its subscribers
-- {position} the procedure
CREATE PROCEDURE {position}
    @side smallint,
    @position bigint OUTPUT
AS
BEGIN
    SET NOCOUNT ON;
    DECLARE @name nvarchar(776);
    SET @name = {push_seq!literal};
    IF @side > 0
        SET @name = (SELECT r.pop_seq FROM {readers} AS r WHERE r.subscriber = @side);
    SET @position = CONVERT(bigint, IDENT_CURRENT(@name));
END;
