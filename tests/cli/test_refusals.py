"""Rows that the server refuses: no output, log, file or table repeats their content."""

from __future__ import annotations

import json
import signal
from pathlib import Path
from typing import Final

import pytest

from qmon.engines.driver_faults import FaultText
from qmon.operate.run.running_operation import RunningOperationText
from qmon.recording.read.recording_paths import list_segments
from tests.cli.calling import call, recording
from tests.facts import query, wait_until
from tests.jobs import configuration, fill, states
from tests.recording.writing import lines_of, sequences, text_of

CARD: Final = "4111-1111"
CHECK: Final = "ALTER TABLE public.jobs ADD CONSTRAINT no_cards CHECK (status <> 'ready' OR payload NOT LIKE 'card%')"
TRIGGER: Final = """
CREATE FUNCTION public.no_cards() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN RAISE EXCEPTION 'job % may not be ready: %', NEW.id, NEW.payload USING DETAIL = NEW.payload; END $$;
CREATE TRIGGER no_cards BEFORE UPDATE ON public.jobs FOR EACH ROW EXECUTE FUNCTION public.no_cards()
"""
WRITES: Final = 'timeout = "1m"\nwrites = { ready = { payload = "keep" } }'
REDACT: Final = 'redact = ["card ([0-9-]+)"]'


def outputs(url: str, state: Path, operation: str) -> dict[str, str]:
    """Return all output about operations, by its source."""
    found = {
        " ".join(form): call("operations", "shop", *form).output
        for form in (
            (),
            ("--output", "json"),
            ("--output", "csv"),
            (operation,),
        )
    }
    found["notes"] = str(query(url, "SELECT * FROM qmon.operations"))
    found |= {str(path): path.read_text() for path in state.rglob("*") if path.is_file()}
    assert {"qmon.log", "operations.jsonl"} <= {Path(name).name for name in found}
    return found


@pytest.mark.parametrize(
    ("obstacle", "reason"),
    [
        (CHECK, 'new row for relation "jobs" violates check constraint "no_cards"'),
        (TRIGGER, FaultText.HIDDEN.render(error="P0001")),
    ],
    ids=["check", "trigger"],
)
def test_a_refused_requeue_repeats_no_payload_anywhere(
    database: str, own_home: Path, tmp_path: Path, obstacle: str, reason: str
) -> None:
    fill(database, dead=3)
    query(database, obstacle + (" NOT VALID" if obstacle == CHECK else ""))
    own_home.parent.mkdir(parents=True)
    own_home.write_text(configuration(database, settings=REDACT).replace('timeout = "1m"', WRITES))
    recorded = tmp_path / "recorded"
    with recording(recorded, "shop", "--every", "500ms") as child:
        wait_until(lambda: len(sequences(recorded)) >= 1)
        done = call("requeue", "shop", "--yes", "--reason", "a test")
        assert done.exit_code != 2, done.output
        wait_until(lambda: any(line.kind == "operation" for line in lines_of(recorded)), what="the operation")
        child.send_signal(signal.SIGINT)
        said = child.communicate(timeout=90)[1]
    assert states(database) == {"working": 3}
    ((operation, notes),) = query(database, "SELECT id, notes FROM qmon.operations")
    assert json.loads(str(notes)) == [RunningOperationText.REFUSED.render(count=3, why=reason, rows="1, 2, 3")]
    told = outputs(database, tmp_path / "state", str(operation))
    told |= {"the requeue": done.output, "the recorder": said}
    told |= {f"recorded {path.name}": text_of(path).decode() for path in list_segments(recorded)}
    assert [where for where, text in told.items() if CARD in text] == []


def test_rows_refused_for_texts_that_differ_in_numbers_are_one_reason(database: str, own_home: Path) -> None:
    fill(database, dead=3)
    query(database, TRIGGER.replace(": %', NEW.id, NEW.payload", "', NEW.id"))
    own_home.parent.mkdir(parents=True)
    own_home.write_text(configuration(database))
    call("requeue", "shop", "--yes")
    ((notes,),) = query(database, "SELECT notes FROM qmon.operations")
    why = "job … may not be ready"
    assert json.loads(str(notes)) == [RunningOperationText.REFUSED.render(count=3, why=why, rows="1, 2, 3")]
