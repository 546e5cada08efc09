"""Parts that several screens share: header, banners, key line, filter, help, palette."""
