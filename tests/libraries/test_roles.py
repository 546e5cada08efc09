"""Rights needed to act on queues of libraries: the grants of ``qmon setup``, and those a plan reports as missing."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from qmon.model.operation_records import Choice
from qmon.operate.plan.required_rights import RightsText
from tests.cli.calling import call
from tests.contract.hostile import role
from tests.contract.hostile_tables import ROLE
from tests.contract.operating import applied
from tests.facts import query
from tests.libraries.acting import each_made, layout_of, operator
from tests.libraries.every import LIBRARIES
from tests.libraries.graphile import Graphile
from tests.libraries.library import ATTEMPTS, QUEUES, Library
from tests.libraries.pgmq import pgmq
from tests.wordings import has

pytestmark = pytest.mark.server

MAILS = QUEUES[0]
# Row level security hides graphile-worker's tables from all but their owner.
OPEN = [library for library in LIBRARIES if library is not Graphile]


made = each_made(OPEN)


def acted(library: Library, kind: object, url: str, as_role: str, folder: Path) -> None:
    """Purge as this role, and retry if the library has dead messages."""
    acting, layout = operator(as_role, folder), layout_of(url, MAILS)
    assert applied(acting.purge(layout, Choice(state="ready"))).done == 1
    if kind is not pgmq:
        assert applied(acting.requeue(layout, Choice(state="dead"))).done == 1
        assert applied(acting.purge(layout, Choice(state="ready"))).done == 1
    library.check(url)


def filled(library: Library, kind: object, url: str, folder: Path) -> None:
    """Push a ready job, and make a dead one."""
    if kind is not pgmq:
        library.push(url, MAILS, ["dead"], fails=ATTEMPTS)
        with library.start(url, folder, "worker", [MAILS]) as worker:
            worker.wait(1, "failed")
            worker.stop()
    library.push(url, MAILS, ["ready"])


def test_setup_grants_what_acting_needs(made: tuple[Library, Any], clean_roles: str, tmp_path: Path) -> None:
    library, kind = made
    database = clean_roles
    filled(library, kind, database, tmp_path)
    done = call("setup", database, "--role", "operator")
    assert done.exit_code == 0, done.output
    as_role = role(database)
    query(database, f"GRANT qmon_operator TO {ROLE}")
    acted(library, kind, database, as_role, tmp_path)


def test_a_plan_names_all_that_is_missing(made: tuple[Library, Any], database: str, tmp_path: Path) -> None:
    library, kind = made
    filled(library, kind, database, tmp_path)
    as_role, layout = role(database), layout_of(database, MAILS)
    schema = layout.table.schema
    query(database, f"GRANT USAGE ON SCHEMA {schema} TO {ROLE}")
    query(database, f"GRANT SELECT ON ALL TABLES IN SCHEMA {schema} TO {ROLE}")
    acting = operator(as_role, tmp_path)
    plans = [acting.purge(layout, Choice(state="ready")).plan]
    if kind is not pgmq:
        plans.append(acting.requeue(layout, Choice(state="dead")).plan)
    for plan in plans:
        assert has(str(plan.refused), RightsText.MISSING, grants="GRANT")
        for grant in re.findall("GRANT [^;]*", str(plan.refused)):
            query(database, grant)
    acted(library, kind, database, as_role, tmp_path)
