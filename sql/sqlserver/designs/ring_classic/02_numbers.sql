-- Numbers on servers without sequences (before 2012): tables that supply identities and never contain a row; see draw
-- for the cost, and for rejected alternatives. Called as the sequences are on later servers.
-- {push_seq} the table of push numbers
-- {pop_seq}  the table of pop numbers
CREATE TABLE {push_seq} (number bigint IDENTITY(0, 1) NOT NULL);
CREATE TABLE {pop_seq} (number bigint IDENTITY(0, 1) NOT NULL);
INSERT INTO {push_seq} DEFAULT VALUES;
INSERT INTO {pop_seq} DEFAULT VALUES;
DELETE FROM {push_seq};
DELETE FROM {pop_seq};
