"""An application that uses django-db-queue."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from django.core.management import call_command
from django.utils import timezone

from tests.libraries.programs import current, django_project
from tests.libraries.programs.application import Application


def run(job: Any) -> None:
    """Do one job."""
    current.run(job.queue_name, job.workspace["payload"], job.workspace["fails"])


def install(url: str) -> None:
    """Create its tables."""
    _set_up(url)
    django_project.migrate()


def push(url: str, queue: str, payloads: Sequence[str], due_in_s: float, fails: int, attempts: int) -> list[str]:
    """Create jobs; return their payloads."""
    del attempts
    _set_up(url)
    from django_dbq.models import Job  # needs Django's settings

    due = timezone.now() + timedelta(seconds=due_in_s) if due_in_s else None
    for payload in payloads:
        workspace = {"payload": payload, "fails": fails}
        Job.objects.create(name="job", queue_name=queue, run_after=due, workspace=workspace)
    django_project.close()
    return list(payloads)


def work(url: str, queues: Sequence[str], application: Application) -> None:
    """Run one worker until SIGTERM, which the library handles itself. It begins at most one job a second."""
    current.CURRENT.append(application)
    _set_up(url)
    (queue,) = queues
    call_command("worker", queue, rate_limit=0)


def _set_up(url: str) -> None:
    django_project.set_up(url, "django_dbq", JOBS={"job": {"tasks": [f"{__name__}.run"]}})
