-- Pushes a batch of messages of random sizes, for the comparison of batch dequeues.
-- {push_batch} procedure of the design
-- {messages}   type: its argument
-- :rows        messages
-- :bytes       size of the largest
-- > pushed     number
SET NOCOUNT ON;
DECLARE @rows int, @most int, @count int, @text nvarchar(max), @messages {messages};
DECLARE @ids TABLE (id bigint NULL);
SELECT @rows = :rows, @most = CAST(:bytes AS int) / 2, @count = 0;
IF @most < 1 SET @most = 1;
SET @text = N'';
WHILE LEN(@text) < @most SET @text = @text + CONVERT(nvarchar(max), CRYPT_GEN_RANDOM(2000), 2);
WHILE @count < @rows
BEGIN
    SET @count = @count + 1;
    INSERT INTO @messages (position, payload)
    VALUES (@count, SUBSTRING(@text, 1, 1 + CONVERT(int, FLOOR(RAND() * @most))));
END;
INSERT INTO @ids (id)
EXEC {push_batch} @messages = @messages;
SELECT CAST(COUNT(*) AS int) AS pushed FROM @ids;
