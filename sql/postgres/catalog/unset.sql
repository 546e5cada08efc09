-- Undoes settings that the driver makes while it connects, because behind a pooler they would stay for the next user of
-- the session.
RESET extra_float_digits
