"""The format of recordings: records, codec, what is left out. FORMAT.md describes it."""
