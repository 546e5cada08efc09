-- Lets the trash note when each row came.
-- {trash}  the table
ALTER TABLE {trash}
    ALTER COLUMN qmon_trashed_at SET DEFAULT clock_timestamp()
