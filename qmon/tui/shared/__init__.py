"""What several screens have: header, banners, line of keys, filter, help, palette."""
