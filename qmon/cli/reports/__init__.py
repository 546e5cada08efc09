"""What commands print as JSON and CSV: a type for each, from which the schemas in ``docs/schemas`` are made.

What ends in ``_at`` is ISO 8601 in UTC where it is text, else seconds since the epoch; ``None``: not known.
"""
