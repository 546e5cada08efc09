"""The queues of one table together: sums, known only if the figures of all its queues are."""

from __future__ import annotations

from dataclasses import replace

from qmon.cli.commands.status import StatusText, status_rows
from qmon.model.combined_figures import CombinedText, group_views
from qmon.model.figure import Figure
from qmon.model.groups.group import MOST_QUEUES
from qmon.model.status_report import status_object
from qmon.model.view import QueueView
from tests.tui.scripted import figure, part, queue, view


def test_counts_and_rates_are_added_and_the_oldest_is_the_oldest() -> None:
    queues = (
        part("oban/mails", ready=3, in_progress=2, push=1.5, pop=1.0, oldest=7.0),
        part("oban/invoices", ready=figure(4, estimated=True), in_progress=0, push=2.5, pop=0.0, oldest=90.0),
        part("pgmq/alone"),
        queue("orders"),
    )
    (found,) = group_views(queues)
    assert (found.name, found.queues) == ("oban", ("oban/mails", "oban/invoices"))
    assert found.figures["ready"] == Figure(7.0, estimated=True)
    assert [found.figures[field].value for field in ("in_progress", "push_rate", "pop_rate", "oldest")] == [2, 4, 1, 90]
    assert "gap" not in found.figures
    assert "consumers" not in found.figures


def test_what_is_unknown_of_one_is_unknown_of_all_and_the_age_is_that_of_the_oldest_reading() -> None:
    mails = part("oban/mails", ready=figure(3, at_least=True))
    invoices = replace(part("oban/invoices", push=None), dead=Figure(2.0, age_s=9.0, old=True))
    mails = replace(mails, dead=Figure(1.0, age_s=3.0))
    (found,) = group_views((mails, invoices))
    assert found.figures["push_rate"] == Figure.unknown("rates need two polls")
    assert found.figures["ready"].at_least
    assert found.figures["dead"] == Figure(3.0, age_s=9.0, old=True)


def test_an_empty_queue_has_no_oldest_and_hides_none() -> None:
    empty = part("oban/empty", ready=0, oldest=figure(None, "nothing is ready"))
    (found,) = group_views((empty, part("oban/mails", ready=1, oldest=5.0)))
    assert found.figures["oldest"] == Figure(5.0)
    (found,) = group_views((empty, replace(empty, layout=replace(empty.layout, queue="oban/other"))))
    assert found.figures["oldest"].value is None


def test_where_not_all_queues_are_read_sums_are_at_least() -> None:
    (found,) = group_views(part(f"oban/{n}", ready=2) for n in range(MOST_QUEUES))
    assert found.figures["ready"].at_least
    assert found.figures["ready"].value == 2 * MOST_QUEUES
    assert found.figures["ready"].reason == CombinedText.QUEUES_LIMITED.render(limit=500)


def test_the_table_stands_above_its_queues_in_status_and_beside_them_in_json() -> None:
    seen = view((queue("orders"), part("oban/mails", ready=3), part("oban/invoices", ready=4, push=None)))
    _, rows = status_rows(seen)
    assert [row[0] for row in rows] == ["orders", "oban", "oban/mails", "oban/invoices"]
    assert rows[1][:3] == ("oban", "table", "7")
    assert rows[1][-1] == StatusText.QUEUES.render(count=2)
    (table,) = status_object(seen)["tables"]
    assert (table["name"], table["table"], table["queues"]) == ("oban", "app.oban", ["oban/mails", "oban/invoices"])
    assert (table["ready"], table["push_rate"]) == (7, None)
    assert table["unknown"]["push_rate"] == "rates need two polls"


def test_queues_of_two_tables_of_one_library_are_two_groups() -> None:
    def app(name: str, schema: str) -> QueueView:
        made = part(name)
        return replace(made, layout=replace(made.layout, table=replace(made.layout.table, schema=schema)))

    both = (app("a.oban/mails", "a"), app("b.oban/mails", "b"), app("a.oban/other", "a"), app("b.oban/other", "b"))
    assert [group.queues for group in group_views(both)] == [
        ("a.oban/mails", "a.oban/other"),
        ("b.oban/mails", "b.oban/other"),
    ]
