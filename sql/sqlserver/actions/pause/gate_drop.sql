-- Removes the gate of a table and its switch. SQL Server takes Sch-M on the table.
-- {gate} the trigger
DELETE FROM qmon.gates WHERE trigger_id = OBJECT_ID({gate!literal});
DROP TRIGGER {gate}
