"""Find the SQL files of an engine and version, check them, and render them for one layout."""
