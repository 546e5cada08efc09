-- Numbers for messages on servers without sequences (before 2012): a table whose identity is drawn from and that
-- never holds a row; see draw for what it costs, and for what was not taken instead.
-- {seq} the table
CREATE TABLE {seq} (number bigint IDENTITY(1, 1) NOT NULL);
