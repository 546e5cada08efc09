"""From segments to rows: reads segments, checks them and writes them to the lake."""
