-- Undoes what the driver sets while it connects, since behind a pooler it would stay with the next user of the session.
RESET extra_float_digits
