"""``qmon serve --web``: the dashboard in a browser."""
