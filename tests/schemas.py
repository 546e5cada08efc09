"""``make share``: the JSON Schemas in ``docs/schemas``, generated from the types of printed and recorded objects."""

from __future__ import annotations

import inspect
import json
from pathlib import Path
from typing import Any, Final, Literal

import msgspec

from qmon.cli.reports import bench_reports, pipeline_reports, target_reports
from qmon.model import report_shapes
from qmon.model.alerts.notice_formats import NoticeReport
from qmon.operate.audit import AuditLine
from qmon.recording.format.codec import PayloadText, StatementText, struct_of
from qmon.recording.format.records import KINDS

FOLDER: Final = Path(__file__).parents[1] / "docs" / "schemas"
_LINE: Final = msgspec.defstruct(
    "RecordingLine",
    [("v", Literal[1]), ("r", str), ("n", int), ("at", float), ("k", Literal[tuple(KINDS)])]
    + [(name, struct_of(kind, False) | msgspec.UnsetType, msgspec.UNSET) for name, kind in KINDS.items()],
    kw_only=True,
)
TYPES: Final[dict[str, Any]] = {
    "action": target_reports.ActionReport,
    "audit": AuditLine,
    "bench": bench_reports.BenchReport,
    "bundle": target_reports.BundleReport,
    "check": report_shapes.CheckReport,
    "demo": report_shapes.DemoReport,
    "doctor": target_reports.DoctorReport,
    "notice": NoticeReport,
    "operations": target_reports.OperationsReport,
    "pipeline-report": pipeline_reports.PeriodReport,
    "pipeline-run": pipeline_reports.IngestReport,
    "queues": target_reports.QueuesReport,
    "recording": _LINE,
    "replay": report_shapes.ReplayReport,
    "status": report_shapes.StatusReport,
    "targets": target_reports.TargetsReport,
    "trash": target_reports.TrashReport,
}


def files() -> dict[str, str]:
    """Return the schemas by file name."""
    return {f"{name}.json": json.dumps(_schema(kind), indent=1) + "\n" for name, kind in TYPES.items()}


def _schema(kind: Any) -> dict[str, Any]:
    made = msgspec.json.schema(kind, schema_hook=_text)
    for each in made.get("$defs", {}).values():
        if "description" in each:
            each["description"] = inspect.cleandoc(each["description"])  # as Python has it from 3.13 on
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **made}


def _text(kind: type) -> dict[str, str]:
    if kind in (PayloadText, StatementText):
        return {"type": "string"}
    raise NotImplementedError(kind)


def valid(text: str, name: str) -> dict[str, Any]:
    """Return the JSON object in ``text`` after checking that it has exactly the fields of its schema."""
    from jsonschema import Draft202012Validator

    schema = json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"))
    for each in schema["$defs"].values():
        if "properties" in each:
            each["additionalProperties"] = False
    found: dict[str, Any] = json.loads(text)
    Draft202012Validator(schema).validate(found)
    return found


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for name, text in files().items():
        (FOLDER / name).write_text(text, encoding="utf-8")
