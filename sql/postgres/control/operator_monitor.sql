-- Lets the acting role watch.
GRANT qmon_monitor TO qmon_operator
