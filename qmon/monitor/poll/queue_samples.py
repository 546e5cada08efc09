"""Turn the results of a poll into the samples of each queue."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from qmon.engines.base import Engine
from qmon.model.counts import TableCount
from qmon.model.groups.group import ResolvedGroup
from qmon.model.layout.layout import Layout
from qmon.model.layout.table_facts import TableFacts
from qmon.model.probe_constants import COUNT_LIMIT, ring_probe
from qmon.model.probe_table import probe_family
from qmon.model.rates.flow import pops_in_transaction
from qmon.model.reasons import Reason
from qmon.model.samples.group_samples import BlockedMessages
from qmon.model.samples.polled_samples import (
    CountSample,
    HeadSample,
    HeldSample,
    KeptValue,
    ProgressSample,
    StrangeStates,
    ValueSample,
    WalkSample,
)
from qmon.model.snapshot import QueueSamples
from qmon.monitor.background.scan_counts import counter_version, why_uncounted
from qmon.monitor.background.slow_reads import SlowReads
from qmon.monitor.poll.probe_budget import ProbeBudget
from qmon.monitor.poll.server_probes import ServerProbes
from qmon.monitor.poll.withheld_samples import columns_of_group, columns_of_layout, withhold_masked, withhold_strange
from qmon.monitor.probes.message_diagnostics import MessageProbes, listed_messages
from qmon.monitor.probes.message_pages import page_from_results
from qmon.monitor.probes.probe_statements import IndexedResults, Results, first_record
from qmon.monitor.probes.queue_memo import COUNT_ROWS, QueueMemo
from qmon.monitor.probes.queue_probes import QueueProbes, head_from_walk
from qmon.monitor.probes.row_locks import RowLocks
from qmon.monitor.source import ReadScope


class QueueFiling:
    """Build the samples of queues from the results of a poll and from the other parts of the collector.

    Belongs to one collector.
    """

    def __init__(
        self,
        engine: Engine,
        slow_reads: SlowReads,
        probe_budget: ProbeBudget,
        row_locks: RowLocks,
        message_probes: MessageProbes,
        server_probes: ServerProbes,
    ) -> None:
        self._engine = engine
        self._server_probes = server_probes
        self._slow_reads = slow_reads
        self._probe_budget = probe_budget
        self._row_locks = row_locks
        self._message_probes = message_probes

    def samples_for(
        self, probes: QueueProbes, results: Results, indexed: IndexedResults, now_at: float, focus: ReadScope
    ) -> QueueSamples:
        """Return the samples of one queue, and remember values for its next poll.

        ``indexed``: an index of ``results``. ``now_at``: server clock, seconds. ``focus``: the focus when the
        statements were chosen.
        """
        layout, facts, memo = probes.layout, probes.facts, probes.memo
        queue, found = layout.queue, indexed.records_for(layout.queue)
        issued = indexed.sequences.get(facts.sequence_id) if facts.sequence_id is not None else None
        counted = self._slow_reads.count_state_for(queue)
        unknown = {**probes.unread, **why_uncounted(facts, counted), **facts.unknown}
        if self._row_locks.may_hide_rows(layout):
            unknown |= dict.fromkeys(("in_progress", "stuck"), Reason.ROWS_HIDDEN)
        left_out = self._probe_budget.left_out_probes(queue)
        held_at = None
        last: tuple[tuple[HeldSample, ...], float] | None = None
        if (
            self._row_locks.covers_queue(probes)
            and queue not in self._row_locks.queues_read
            and probes.locked_rows_probe_name is not None
        ):
            left_out = (*left_out, probes.locked_rows_probe_name)
            last = self._row_locks.last_holders(queue)
        head, head_limit = first_record(results, probes.head_probe_name or "", queue), memo.head_limit
        none_held = None if probes.locked_rows_probe_name in left_out else ()
        held: tuple[HeldSample, ...] | None = found.get(probes.locked_rows_probe_name or "", none_held)
        if last is not None and pops_in_transaction(layout):
            held, held_at = last[0], now_at - last[1]
        empty = probes.is_empty(results)
        memo.may_be_empty = counted.count is not None and counted.count.may_be_empty
        walked = None
        if isinstance(head, WalkSample):
            walked = head
            head, head_limit = head_from_walk(walked, head_limit, ordered="walk" in facts.indexes)
            held = held if "walk" in facts.indexes or (walked.whole and walked.counted < memo.head_limit) else None
            if head is None and "walk" in facts.indexes:
                unknown["oldest"] = Reason.WALKING
        progress = first_record(results, "progress_oldest" if probes.is_longest_first else "progress", queue)
        if empty and head is None:
            head, head_limit = HeadSample(None, None, 0), COUNT_ROWS
        if empty and layout.state is not None and layout.state.in_progress is not None:
            progress = ProgressSample(0, 0, 0, None)
        # This server shows rows that consumers hold. No row is visible, so consumers hold no rows.
        if empty and self._engine.shows_deleted and pops_in_transaction(layout):
            unknown = {figure: why for figure, why in unknown.items() if figure not in ("in_progress", "stuck")}
        memo.record_head(
            head, issued.last_value if issued and facts.order_by_number else None, walks=walked is not None
        )
        memo.record_place(walked)
        memo.last_id = issued.last_value if issued else None
        ring = first_record(results, ring_probe(layout), queue)
        memo.record_span(ring)
        probes.keep_rows(results, now_at)
        if empty and layout.has_figure("blocked"):
            memo.kept["blocked"] = CountSample(0), now_at
        memo.record_states(() if empty else found.get("states"), now_at)
        strange = None if empty else strange_states(layout, facts, memo, counted.count)
        scheduled, scheduled_at = memo.kept.get("scheduled", (None, None))
        dead, dead_at = memo.kept.get("in_state", (None, None))
        blocked, blocked_at = memo.kept.get("blocked", (None, None))
        ids = found.get("progress_ids")
        messages, page = (
            (listed_messages(layout, facts, found), None)
            if focus.listing is None or focus.rows_of != queue
            else page_from_results(probes, focus.listing, results) or (None, None)
        )
        depth = probes.discard_wrong_depth(first_record(results, "depth", queue), head, counted.count)
        memo.counted_apart = depth is not None or counted.count is not None
        samples = QueueSamples(
            layout=layout,
            counters=indexed.counters.get(facts.table_id),
            data_counters=indexed.counters.get(facts.data_table_id) if facts.data_table_id is not None else None,
            last_id=issued.last_value if issued else None,
            head=head,
            head_limit=head_limit,
            held=held if pops_in_transaction(layout) else (),
            held_at=held_at,
            locked=() if held is None or held_at is not None else held,
            progress=progress,
            longest_first=probes.is_longest_first,
            in_progress_ids=tuple(i.id for i in ids) if ids is not None else None,
            held_counted=self._engine.shows_deleted,
            scheduled=scheduled and scheduled.counted,
            scheduled_at=scheduled_at,
            dead=dead and dead.counted,
            dead_at=dead_at,
            blocked=blocked and BlockedMessages(blocked.counted),
            blocked_at=None if blocked_at == now_at else blocked_at,
            sized_at=self._server_probes.sized_at(facts.tables),
            ring=ring,
            depth=depth,
            count=counted.count,
            diagnostics=self._message_probes.diagnostics_for(probes, results),
            messages=messages,
            page=page,
            unknown=unknown,
            left_out=left_out,
            strange=strange,
            strange_at=memo.strange_at if "states" in facts.indexes and memo.strange_at != now_at else None,
            values={
                name: KeptValue(row.value, at) for name, (row, at) in memo.kept.items() if isinstance(row, ValueSample)
            },
            partial=indexed.partial.get(facts.table_id) or indexed.partial.get(facts.data_table_id or 0, ""),
        )
        # A scan returns only the first and the last of the unknown values in each part of the table.
        all_listed = "states" in facts.indexes or (strange is not None and len(strange.values) == 1)
        samples = withhold_strange(samples, all_listed=all_listed)
        masked = indexed.masked_in(((layout.table.name, facts.table_id),))
        return withhold_masked(samples, masked, columns_of_layout(layout, facts.order_by)) if masked else samples

    def without_hidden_values(
        self, queues: Sequence[QueueSamples], resolved: ResolvedGroup, every: IndexedResults
    ) -> tuple[QueueSamples, ...]:
        """Return the samples of a group's queues, without the values that are hidden from our role.

        ``every``: the results of the poll.
        """
        hidden = next((every.partial[table] for _, table in resolved.tables if table in every.partial), "")
        queues = tuple(withhold_strange(replace(each, partial=hidden), all_listed=True) for each in queues)
        masked = every.masked_in(resolved.tables)
        if not masked:
            return queues
        columns = columns_of_group(resolved.group)
        return tuple(withhold_masked(each, masked, columns) for each in queues)

    def record_count_needs(
        self, queues: Sequence[QueueSamples], probes: Mapping[str, QueueProbes], now_at: float, *, uncounted: bool
    ) -> tuple[QueueSamples, ...]:
        """Report which queues need a count, and add the progress of running counts to their samples.

        ``now_at``: server clock, seconds. ``uncounted``: the server does not count writes in this database.
        """
        seen = (q for q in queues if not q.unread and not any(probe_family(probe) == "head" for probe in q.left_out))
        needs = {q.layout.queue: needs_count(q, probes[q.layout.queue].facts, now_at) for q in seen}
        versions = {q.layout.queue: counter_version(q) for q in queues if not (uncounted or q.unread)}
        self._slow_reads.record_needs(needs, versions, now_at)
        return tuple(
            replace(q, counting=self._slow_reads.count_state_for(q.layout.queue).progress)
            if needs.get(q.layout.queue) and probes[q.layout.queue].facts.has_scanned_figures
            else q
            for q in queues
        )


def strange_states(
    layout: Layout, facts: TableFacts, memo: QueueMemo, count: TableCount | None
) -> StrangeStates | None:
    """Return the messages in unknown states, from the index on the state column or else from the last scan."""
    if layout.state is None:
        return None
    column = layout.state.column
    if "states" in facts.indexes:
        if not memo.strange:
            return None
        values = tuple(each.value for each in memo.strange)
        counts = [min(each.counted, COUNT_LIMIT) for each in memo.strange]
        return StrangeStates(column, values, sum(counts), any(each.counted > COUNT_LIMIT for each in memo.strange))
    if count is None or not count.strange:
        return None
    return StrangeStates(column, count.strange_values, count.strange)


def needs_count(samples: QueueSamples, facts: TableFacts, now_at: float) -> bool:
    """Return whether the number of messages of a queue can only be found by counting the whole table."""
    if "states" in facts.slow or (
        facts.has_scanned_figures and (samples.layout.state is not None or samples.layout.due_at is not None)
    ):
        return True
    if samples.layout.ring is not None or (samples.depth is not None and samples.depth.counted_at >= now_at):
        return False
    if samples.head is None:
        return True
    return samples.head.counted >= samples.head_limit or (
        samples.progress is not None and samples.progress.in_progress >= samples.head_limit > 1
    )
