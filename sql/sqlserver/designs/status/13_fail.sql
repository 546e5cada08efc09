-- Give back a message that could not be processed: it becomes ready again at its old place, or dead after @max_attempts
-- attempts. Returns the new status, NULL if the message is not in progress (any more). An addition.
-- @attempt: as in complete.
-- {table}            the queue
-- {fail}             the procedure
-- {max_attempts!int} attempts after which a message is dead, unless the caller sets another number
-- > state the new status
CREATE PROCEDURE {fail}
    @id bigint,
    @attempt int,
    @max_attempts int = {max_attempts!int},
    @state int = NULL OUTPUT,
    @quiet bit = 0
AS
BEGIN
    SET NOCOUNT ON;
    SET XACT_ABORT ON;
    SET TRANSACTION ISOLATION LEVEL READ COMMITTED;

    SET @state = NULL;
    UPDATE {table} WITH (ROWLOCK)
    SET @state = status = CASE WHEN attempts >= @max_attempts THEN 3 ELSE 1 END,
        started_at = NULL,
        owner = NULL
    WHERE id = @id
        AND status = 2
        AND attempts = @attempt
    OPTION (MAXDOP 1, KEEPFIXED PLAN);
    IF @quiet = 0 SELECT @state AS state;
END;
