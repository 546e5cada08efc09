"""An application that uses django-tasks with its database backend."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from django.core.management import call_command
from django.utils import timezone

from tests.libraries.programs import django_project
from tests.libraries.programs.application import Application
from tests.libraries.programs.current import CURRENT


def install(url: str) -> None:
    """Create its tables."""
    _set_up(url)
    django_project.migrate()


def push(url: str, queue: str, payloads: Sequence[str], due_in_s: float, fails: int, attempts: int) -> list[str]:
    """Enqueue tasks; return their payloads."""
    del attempts
    task = _set_up(url).using(queue_name=queue)
    if due_in_s:
        task = task.using(run_after=timezone.now() + timedelta(seconds=due_in_s))
    for payload in payloads:
        task.enqueue(queue, payload, fails)
    django_project.close()
    return list(payloads)


def work(url: str, queues: Sequence[str], application: Application) -> None:
    """Run one worker until SIGTERM, which the library handles itself."""
    CURRENT.append(application)
    _set_up(url)
    call_command("db_worker", queue_name=",".join(queues), interval=0.05, startup_delay=False, reload=False)


def _set_up(url: str) -> Any:
    backend = {"BACKEND": "django_tasks_db.DatabaseBackend", "QUEUES": ["mails", "invoices"]}
    django_project.set_up(url, "django_tasks_db", TASKS={"default": backend})
    from tests.libraries.programs.django_task import task  # needs Django's settings

    return task
