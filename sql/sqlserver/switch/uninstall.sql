-- Drops the switch of a queue. Skips objects that do not exist.
-- {switch} the table; its key goes with it
-- {paused} procedure
IF OBJECT_ID({paused!literal}, N'P') IS NOT NULL DROP PROCEDURE {paused};
IF OBJECT_ID({switch!literal}, N'U') IS NOT NULL DROP TABLE {switch};
