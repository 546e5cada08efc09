-- Drops the switch of a gate that was taken off its table.
-- {switch} the sequence
DROP SEQUENCE {switch}
