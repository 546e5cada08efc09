-- Gives each row of a store a number of its own: what it keeps may be there twice, or have no key.
-- {store}  the table
ALTER TABLE {store}
    ALTER COLUMN qmon_operation SET NOT NULL,
    ADD COLUMN qmon_row bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY
