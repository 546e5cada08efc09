-- Everybody may read the switch of a gate: whoever inserts must see that he may not.
-- {switch} the sequence
GRANT SELECT ON SEQUENCE {switch} TO PUBLIC
