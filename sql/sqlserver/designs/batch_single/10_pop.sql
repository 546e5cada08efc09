-- Pop one message: a batch of one. @owner: name of the consumer; NULL: this session.
-- {pop}             the procedure
-- {pop_batch}       procedure: pop a batch
-- > id              the message's id
-- > payload         the message
-- > attempt         number of pops, including this one
-- > title           its title
-- > queue_date_time its place in the order
CREATE PROCEDURE {pop}
    @owner varchar(40) = NULL
AS
BEGIN
    SET NOCOUNT ON;
    EXEC {pop_batch} @limit = 1, @owner = @owner;
END;
