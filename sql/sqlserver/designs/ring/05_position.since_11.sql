-- The last number taken on a side (0: producers, 1: consumers); 0 before the first. NULL if the caller may not see the
-- sequence: VIEW DEFINITION on it helps. Called only when there is nothing to do: the catalog is slower than the ring.
-- {push_seq} the sequence of push numbers
-- {pop_seq}  the sequence of pop numbers
-- {position} the procedure
CREATE PROCEDURE {position}
    @side smallint,
    @position bigint OUTPUT
AS
BEGIN
    SET NOCOUNT ON;
    SET @position = (
        SELECT CONVERT(bigint, s.current_value)
        FROM sys.sequences AS s
        WHERE s.object_id = OBJECT_ID(CASE @side WHEN 0 THEN {push_seq!literal} ELSE {pop_seq!literal} END)
    );
END;
