-- All payloads, for people and tools that look at a message; push and pop go to the one table that can have it.
-- {data}   the view
-- {data_0} payloads of numbers divisible by 4
-- {data_1} payloads of numbers with remainder 1
-- {data_2} payloads of numbers with remainder 2
-- {data_3} payloads of numbers with remainder 3
CREATE VIEW {data} AS
SELECT message_id, message FROM {data_0}
UNION ALL
SELECT message_id, message FROM {data_1}
UNION ALL
SELECT message_id, message FROM {data_2}
UNION ALL
SELECT message_id, message FROM {data_3};
