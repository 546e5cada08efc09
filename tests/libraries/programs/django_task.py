"""The job as a task of Django, which workers import by its path."""

from __future__ import annotations

from django_tasks import task as as_task

from tests.libraries.programs.current import run


def task(queue: str, payload: str, fails: int) -> None:
    """Do the job."""
    run(queue, payload, fails)


task = as_task(queue_name="mails")(task)
