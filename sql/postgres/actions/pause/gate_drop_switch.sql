-- Drops the switch of a gate that was removed from its table.
-- {switch} the sequence
DROP SEQUENCE {switch}
