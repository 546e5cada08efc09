-- Numbers for messages on servers without sequences (before 2012): a table that supplies identities and never contains
-- a row; see draw for the cost, and for rejected alternatives.
-- {seq} the table
CREATE TABLE {seq} (number bigint IDENTITY(1, 1) NOT NULL);
