-- The next @count numbers of a side: 0 for producers, 1 for consumers. How many it gave, in @count, and the first of
-- them. The comments of the article doubt that a range can be reserved at once: sp_sequence_get_range does. It asks
-- for UPDATE on the sequence, which callers of pop_batch need; NEXT VALUE FOR in a procedure asks for nothing.
-- {push_seq} the sequence of push numbers
-- {pop_seq}  the sequence of pop numbers
-- {draw}     the procedure
CREATE PROCEDURE {draw}
    @side smallint,
    @number bigint OUTPUT,
    @count int = 1 OUTPUT
AS
BEGIN
    SET NOCOUNT ON;
    DECLARE @name nvarchar(776), @first sql_variant;
    IF @count = 1 AND @side = 0
        SET @number = NEXT VALUE FOR {push_seq};
    ELSE IF @count = 1
        SET @number = NEXT VALUE FOR {pop_seq};
    ELSE
    BEGIN
        SET @name = CASE @side WHEN 0 THEN {push_seq!literal} ELSE {pop_seq!literal} END;
        EXEC sys.sp_sequence_get_range @sequence_name = @name, @range_size = @count, @range_first_value = @first OUTPUT;
        SET @number = CONVERT(bigint, @first);
    END;
END;
