"""Widgets that draw lines and tables. They know nothing about queues."""
