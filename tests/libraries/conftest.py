"""``make test`` uses two libraries, because qmon treats all in the same way. ``make soak`` uses the others."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Final

import pytest

# The libraries of each test: the last one that records its workers, and one without rates. The figures of all libraries
# are compared with their tables anyway.
KEPT: Final = {
    "test_what_ends_or_is_taken_anew_between_plan_and_apply_is_left_alone": ("procrastinate", "PgBoss"),
    "test_the_job_of_a_worker_that_is_alive_is_left_alone": ("procrastinate", "PgBoss"),
    "test_dead_jobs_are_retried": ("procrastinate", "PgBoss"),
    "test_what_is_purged_is_not_worked_on_until_it_is_put_back": ("procrastinate", "oban"),
    "test_what_is_taken_between_plan_and_apply_is_left_to_its_worker": ("firm_queue",),
    "test_producers_are_refused_while_workers_go_on_and_producers_of_other_queues": ("procrastinate", "PgBoss"),
    "test_setup_grants_what_acting_needs": ("procrastinate",),
    "test_a_plan_names_all_that_is_missing": ("firm_queue",),
    "test_tables_hold_what_the_log_says": ("procrastinate", "PgBoss"),
    "test_ready_messages_that_nobody_takes_are_named_after_their_time": ("oban", "Graphile"),
}

HEADINGS: Final = ("LIBRARY", "QUEUE", "DEPTH", "IN PROG", "DEAD", "PUSH/s", "POP/s", "COMPLETE/s", "KILLED JOB")
ROW: Final = "{:<16}{:<10}{:<20}{:<13}{:<11}{:<16}{:<16}{:<16}{}"


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: Sequence[pytest.Item]) -> None:
    """Mark tests with other libraries for ``make soak ARGS=--libraries``: they use two processors for 1.5 minutes."""
    for item in items:
        kept = KEPT.get(getattr(item, "originalname", ""))
        if kept is not None and not any(name in item.name for name in kept):
            item.add_marker(pytest.mark.soak)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print the table of figures after a minute of work, if a test recorded it."""
    passed: Sequence[pytest.TestReport] = terminalreporter.stats.get("passed", ())
    rows = [
        tuple(json.loads(str(row))) for report in passed for name, row in report.user_properties if name == "minute"
    ]
    if rows:
        terminalreporter.section("figures of qmon status, of what the application wrote down")
        for row in (HEADINGS, *rows):
            terminalreporter.write_line(ROW.format(*row).rstrip())
