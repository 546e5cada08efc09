-- Records that the pauses of one side of a table were lifted, after their switch was.
-- :about  the table
-- :side   producers or consumers
-- :by     the operator who ends the pause
-- > done  pauses
SELECT qmon.lift_pauses(CAST(:about AS pg_catalog.text), CAST(:side AS pg_catalog.text),
                        CAST(:by AS pg_catalog.text)) AS done
