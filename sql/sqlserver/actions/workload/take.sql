-- Pop one message, of a design that counts attempts: its id, the message, and which attempt this is; some designs say
-- more.
-- {pop} procedure of the design
EXEC {pop}
