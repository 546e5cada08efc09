-- Lets the acting role watch.
ALTER ROLE qmon_monitor ADD MEMBER qmon_operator
