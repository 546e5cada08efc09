-- The switch of a gate: the time until which inserts are refused.
-- {gate} the trigger
INSERT INTO qmon.gates (trigger_id, until_utc) VALUES (OBJECT_ID({gate!literal}), '19700101')
