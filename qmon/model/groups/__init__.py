"""Groups: tables whose rows are in states that conditions tell, and which hold several queues by a column."""
