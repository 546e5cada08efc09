"""The format of recordings: records, encoding and redaction. FORMAT.md describes it."""
