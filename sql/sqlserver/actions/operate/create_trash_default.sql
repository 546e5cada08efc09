-- Lets the trash note when each row came.
-- {trash}  the table
ALTER TABLE {trash} ADD DEFAULT SYSUTCDATETIME() FOR qmon_trashed_at
