"""What users choose for themselves: theme, columns and saved views, and what is remembered of them."""
