"""Folds every snapshot on the source's own thread and posts the resulting view to the app."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from operator import is_
from typing import TypeVar

from textual.message import Message
from textual.message_pump import MessagePump

from qmon.model.figure import PastVerdict, Verdict
from qmon.model.snapshot import Snapshot
from qmon.model.view import QueueView, View
from qmon.model.waits.lock_chains import LockChains
from qmon.monitor.source import Event, SourceState
from qmon.recording.history.in_memory import InMemoryHistory

Fold = Callable[[Snapshot], View]
AnyVerdict = TypeVar("AnyVerdict", Verdict, PastVerdict)


class ViewReady(Message):
    """New figures. They replace older figures that the screen has not processed yet."""

    def __init__(self, view: View) -> None:
        super().__init__()
        self.view = view

    def can_replace(self, message: Message) -> bool:
        """Return True for older figures of the same target."""
        return isinstance(message, ViewReady) and message.view.target == self.view.target


class StateChanged(Message):
    """The state of the source has changed."""

    def __init__(self, state: SourceState) -> None:
        super().__init__()
        self.state = state


class FoldFailed(Message):
    """A snapshot could not be folded. This is a bug in qmon and must not look like a quiet queue."""

    def __init__(self, error: Exception, target: str = "") -> None:
        super().__init__()
        self.error = error
        self.target = target


class Feed:
    """The sink of one source, called on the source's thread.

    Every snapshot is folded and recorded in ``memory``, even if the screen skips it.
    """

    def __init__(self, receiver: MessagePump, fold: Fold, memory: InMemoryHistory | None = None) -> None:
        self._receiver = receiver
        self._fold = fold if memory is None else memory.wrap_fold(fold)
        self._memory = memory

    def __call__(self, event: Event) -> None:
        """Process one event. Never raises, so that the source's thread continues."""
        if isinstance(event, SourceState):
            if self._memory is not None:
                self._memory.record_state(event)
            self._receiver.post_message(StateChanged(event))
            return
        try:
            view = self._fold(event)
        except Exception as error:
            self._receiver.post_message(FoldFailed(error, event.target))
        else:
            self._receiver.post_message(ViewReady(view))


def redacting_fold(fold: Fold, redact: Callable[[str], str]) -> Fold:
    """Return a function like ``fold`` that also redacts payloads, errors, statements and proofs with ``redact``.

    As a result, the filter only searches redacted text.
    """

    def fold_and_redact(snapshot: Snapshot) -> View:
        view = fold(snapshot)
        if view.server.blocking is not None and view.server.blocking.places:
            view = replace(view, server=replace(view.server, blocking=_redact_blocking(view.server.blocking, redact)))
        verdicts = tuple(_redact_proof(verdict, redact) for verdict in view.server.verdicts)
        outside = tuple(map(redact, view.server.outside))
        if (verdicts, outside) != (view.server.verdicts, view.server.outside):
            view = replace(view, server=replace(view.server, outside=outside, verdicts=verdicts))
        queues = [_redact_proofs(_redact_messages(queue, redact), redact) for queue in view.queues]
        if all(map(is_, queues, view.queues)):  # the usual case; copies of all queues take long
            return view
        return replace(view, queues=tuple(queues))

    return fold_and_redact


def _redact_blocking(blocking: LockChains, redact: Callable[[str], str]) -> LockChains:
    places = (
        replace(place, session=replace(place.session, statement=redact(place.session.statement)))
        for place in blocking.places
    )
    return replace(blocking, places=tuple(places))


def _redact_proofs(queue: QueueView, redact: Callable[[str], str]) -> QueueView:
    """Redact the proofs, because they may contain the error of a message."""
    verdict = _redact_proof(queue.verdict, redact)
    verdicts = tuple(_redact_proof(verdict, redact) for verdict in queue.verdicts)
    past = tuple(_redact_proof(each, redact) for each in queue.past)
    if verdict is queue.verdict and all(map(is_, (*verdicts, *past), (*queue.verdicts, *queue.past))):
        return queue
    return replace(queue, verdict=verdict, verdicts=verdicts, past=past)


def _redact_proof(verdict: AnyVerdict, redact: Callable[[str], str]) -> AnyVerdict:
    proof = redact(verdict.proof)
    return verdict if proof == verdict.proof else replace(verdict, proof=proof)


def _redact_messages(queue: QueueView, redact: Callable[[str], str]) -> QueueView:
    if not queue.messages:
        return queue
    messages = (
        replace(m, payload=m.payload and redact(m.payload), error=m.error and redact(m.error)) for m in queue.messages
    )
    return replace(queue, messages=tuple(messages))
