-- The next @count numbers of a side: 0 for producers, k for the consumers of subscriber k. How many it gave, in @count,
-- and the first of them. sp_sequence_get_range takes the sequence's name as a value; it asks for UPDATE on the
-- sequence, which callers of pop need.
-- {push_seq} the sequence of push numbers
-- {readers}  its subscribers
-- {draw}     the procedure
CREATE PROCEDURE {draw}
    @side smallint,
    @number bigint OUTPUT,
    @count int = 1 OUTPUT
AS
BEGIN
    SET NOCOUNT ON;
    DECLARE @name nvarchar(776), @first sql_variant;
    IF @side = 0 AND @count = 1
        SET @number = NEXT VALUE FOR {push_seq};
    ELSE
    BEGIN
        SET @name = {push_seq!literal};
        IF @side > 0
            SET @name = (SELECT r.pop_seq FROM {readers} AS r WHERE r.subscriber = @side);
        EXEC sys.sp_sequence_get_range @sequence_name = @name, @range_size = @count, @range_first_value = @first OUTPUT;
        SET @number = CONVERT(bigint, @first);
    END;
END;
