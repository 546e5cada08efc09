-- The last number taken on a side (0: producers, 1: consumers); 0 before the first. NULL if the caller may not see the
-- table of the numbers.
-- {push_seq} the table of push numbers
-- {pop_seq}  the table of pop numbers
-- {position} the procedure
CREATE PROCEDURE {position}
    @side smallint,
    @position bigint OUTPUT
AS
BEGIN
    SET NOCOUNT ON;
    SET @position = CONVERT(
        bigint, IDENT_CURRENT(CASE @side WHEN 0 THEN {push_seq!literal} ELSE {pop_seq!literal} END)
    );
END;
