-- Push many messages of the workload, of a design whose messages are bytes.
-- {push_batch} procedure of the design
-- {messages}   type: its argument
-- :payloads    the messages, numbered, as XML
-- > id         the id of each
SET NOCOUNT ON;
DECLARE @texts xml, @messages {messages};
SET @texts = CAST(CAST(:payloads AS nvarchar(max)) AS xml);
INSERT INTO @messages (position, payload)
SELECT r.n.value('@n', 'int'), CAST(r.n.value('@k', 'varchar(max)') AS varbinary(max))
FROM @texts.nodes('/r') AS r(n);
EXEC {push_batch} @messages = @messages;
