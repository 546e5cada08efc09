"""Groups: tables that hold several queues, distinguished by a column, with states defined by conditions."""
