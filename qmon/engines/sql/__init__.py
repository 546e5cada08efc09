"""The SQL files: found by engine and version, checked, and rendered for one layout."""
