"""Alerts: rules over figures, over time, and as monitoring systems read them."""
