"""What qmon changes in a database, always when an operator asks: installing and taking away queue designs."""
