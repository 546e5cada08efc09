-- Lets the acting role end the session that blocks everybody; those of superusers are out of its reach.
GRANT pg_signal_backend TO qmon_operator
