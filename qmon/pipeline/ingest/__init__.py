"""From segments to rows: what is read, checked and laid into the lake."""
