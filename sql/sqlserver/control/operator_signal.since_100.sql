-- Lets the acting role see the sessions of others in this database and end them: there are no roles of the server.
GRANT VIEW DATABASE STATE, KILL DATABASE CONNECTION TO qmon_operator
