"""Shows the dashboard in a browser, for ``qmon serve --web``."""
