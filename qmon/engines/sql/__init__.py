"""The SQL files: found by engine and version, checked, rendered for one layout."""
