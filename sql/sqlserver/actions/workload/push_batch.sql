-- Push many messages of the workload.
-- {push_batch} procedure of the design
-- {messages}   type: its argument
-- :payloads    the messages, numbered, as XML
-- > id         the id of each
SET NOCOUNT ON;
DECLARE @texts xml, @messages {messages};
SET @texts = CAST(CAST(:payloads AS nvarchar(max)) AS xml);
INSERT INTO @messages (position, payload)
SELECT r.n.value('@n', 'int'), r.n.value('@k', 'nvarchar(max)')
FROM @texts.nodes('/r') AS r(n);
EXEC {push_batch} @messages = @messages;
