"""Copies each archived message into the lake once."""
