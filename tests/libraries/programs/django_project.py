"""Settings of Django for one database, without files."""

from __future__ import annotations

from typing import Any
from urllib.parse import parse_qs, urlsplit

import django
from django.conf import settings
from django.core.management import call_command
from django.db import connections


def set_up(url: str, app: str, **more: Any) -> None:
    """Configure Django with one app on this database. Only the first call in a process has an effect."""
    if settings.configured:
        return
    parts = urlsplit(url)
    query = parse_qs(parts.query)
    settings.configure(
        INSTALLED_APPS=["django.contrib.contenttypes", app],
        DATABASES={
            "default": {
                "ENGINE": "django.db.backends.postgresql",
                "NAME": parts.path.lstrip("/"),
                "USER": parts.username,
                "HOST": parts.hostname or query["host"][0],
                "PORT": parts.port or query["port"][0],
            }
        },
        USE_TZ=True,
        SECRET_KEY="not a secret",
        DEFAULT_AUTO_FIELD="django.db.models.BigAutoField",
        **more,
    )
    django.setup()


def migrate() -> None:
    """Create all tables."""
    call_command("migrate", verbosity=0)


def close() -> None:
    """Close the sessions, as Django does at the end of a request."""
    connections.close_all()
