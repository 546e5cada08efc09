"""Types of the JSON and CSV that commands print. The schemas in ``docs/schemas`` are made from them.

Fields that end in ``_at`` are ISO 8601 in UTC if they are text, otherwise seconds since the epoch. ``None``: unknown.
"""
