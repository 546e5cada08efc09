-- The last number taken on a side (0: producers, k: subscriber k); 0 before the first. NULL if the caller may not see
-- the sequence: VIEW DEFINITION on it helps. Called only when there is nothing to do: the catalog is slower than the
-- ring.
-- {push_seq} the sequence of push numbers
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
    SET @position = (
        SELECT CONVERT(bigint, s.current_value)
        FROM sys.sequences AS s
        WHERE s.object_id = OBJECT_ID(@name)
    );
END;
