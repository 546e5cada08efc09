"""SQL Server over Microsoft's driver or FreeTDS."""
