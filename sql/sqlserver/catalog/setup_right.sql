-- Whether one object of a queue exists. Does not read rights: granting them again does nothing.
-- {object}   the object
-- :kind      switch, archive, or routine
-- > present  it is there
-- > allowed  always 0: granted again
SELECT CAST(CASE WHEN OBJECT_ID({object!literal}) IS NOT NULL THEN 1 ELSE 0 END AS bit) AS present,
       CAST(CASE WHEN :kind = 'none' THEN 1 ELSE 0 END AS bit)                          AS allowed
