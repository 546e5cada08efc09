-- Takes a gate off a table, for which SQL Server takes Sch-M on it, and its switch.
-- {gate} the trigger
DELETE FROM qmon.gates WHERE trigger_id = OBJECT_ID({gate!literal});
DROP TRIGGER {gate}
