-- Pop one message, of a design that counts attempts: its id, the message, and the number of the attempt. Some designs
-- return more columns.
-- {pop} procedure of the design
EXEC {pop}
