-- Put the payload of message @number into the table that is chosen by the number.
-- {data_0} payloads of numbers divisible by 4
-- {data_1} payloads of numbers with remainder 1
-- {data_2} payloads of numbers with remainder 2
-- {data_3} payloads of numbers with remainder 3
-- {store}  the procedure
CREATE PROCEDURE {store}
    @number bigint,
    @message nvarchar(max)
AS
BEGIN
    SET NOCOUNT ON;
    IF @number % 4 = 0
        INSERT INTO {data_0} WITH (ROWLOCK) (message_id, message) VALUES (@number, @message);
    ELSE IF @number % 4 = 1
        INSERT INTO {data_1} WITH (ROWLOCK) (message_id, message) VALUES (@number, @message);
    ELSE IF @number % 4 = 2
        INSERT INTO {data_2} WITH (ROWLOCK) (message_id, message) VALUES (@number, @message);
    ELSE
        INSERT INTO {data_3} WITH (ROWLOCK) (message_id, message) VALUES (@number, @message);
END;
