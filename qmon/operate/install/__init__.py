"""Install queue designs, qmon's own schema and its roles."""
