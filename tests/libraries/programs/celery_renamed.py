"""An application that uses Celery with kombu's SQLAlchemy transport, and tables with names of its own."""

from __future__ import annotations

from functools import partial
from typing import Final

from tests.libraries.programs import celery_kombu

TABLES: Final = {"queue_tablename": "shop_lanes", "message_tablename": "shop_jobs"}

install = partial(celery_kombu.install, tables=TABLES)
push = partial(celery_kombu.push, tables=TABLES)
work = partial(celery_kombu.work, tables=TABLES)
