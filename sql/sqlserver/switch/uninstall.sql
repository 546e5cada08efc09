-- Takes the switch of a queue away; what is not there is passed over.
-- {switch} the table; its key goes with it
-- {paused} procedure
IF OBJECT_ID({paused!literal}, N'P') IS NOT NULL DROP PROCEDURE {paused};
IF OBJECT_ID({switch!literal}, N'U') IS NOT NULL DROP TABLE {switch};
