-- Numbers for messages on servers without sequences (before 2012): a table whose identity is drawn and that never
-- contains a row; see draw for the cost, and for the rejected alternatives.
-- {seq} the table
CREATE TABLE {seq} (number bigint IDENTITY(1, 1) NOT NULL);
