-- Lets the acting role end a session that blocks others, but not a session of a superuser.
GRANT pg_signal_backend TO qmon_operator
