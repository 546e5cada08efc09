"""Types of the JSON and CSV that commands print. The schemas in ``docs/schemas`` are generated from these types.

Fields whose names end in ``_at`` contain ISO 8601 in UTC if they are text, otherwise seconds since the epoch. ``None``
means unknown.
"""
