"""An application that uses django-q2 with its ORM broker. Its clusters are its queues."""

from __future__ import annotations

import threading
from collections.abc import Sequence

from tests.libraries.programs import django_project
from tests.libraries.programs.application import Application
from tests.libraries.programs.current import CURRENT


def install(url: str) -> None:
    """Create its tables."""
    _set_up(url, "mails")
    django_project.migrate()


def push(url: str, queue: str, payloads: Sequence[str], due_in_s: float, fails: int, attempts: int) -> list[str]:
    """Enqueue tasks; return their payloads."""
    del due_in_s, attempts
    _set_up(url, queue)
    from django_q.brokers import get_broker  # needs Django's settings
    from django_q.tasks import async_task

    for payload in payloads:
        async_task("tests.libraries.programs.current.run", queue, payload, fails, broker=get_broker(queue))
    django_project.close()
    return list(payloads)


def work(url: str, queues: Sequence[str], application: Application) -> None:
    """Run one cluster with one worker."""
    CURRENT.append(application)
    (queue,) = queues
    _set_up(url, queue)
    from django_q.cluster import Cluster  # needs Django's settings

    Cluster().start()
    threading.Event().wait()


def _set_up(url: str, queue: str) -> None:
    cluster = {"name": queue, "orm": "default", "workers": 1, "timeout": 90, "retry": 120, "poll": 0.2}
    django_project.set_up(url, "django_q", Q_CLUSTER=cluster)
