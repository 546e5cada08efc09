-- Our role, for the GRANT in the advice.
-- > role      our role
-- > database  the database we are in
SELECT CAST(current_user AS text) AS role, CAST(current_database() AS text) AS database
