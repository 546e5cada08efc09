"""``qmon doctor --bundle``: the archive's content, and data that it never contains."""

from __future__ import annotations

import json
import stat
import tarfile
import threading
import zipfile
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

import qmon
from qmon.cli.commands.doctor.bundle import BundleText, poll_once
from qmon.cli.target_session import ConnectedTarget
from qmon.config.chosen_target import TargetText, find_target
from qmon.config.config_file import Config
from qmon.engines.postgres.postgres_errors import PostgresErrorText
from qmon.errors import ConnectionFailed
from qmon.model.snapshot import Snapshot
from qmon.recording.format.codec import decode
from tests.cli.calling import call
from tests.facts import connected, query, wait_until
from tests.jobs import configuration, fill
from tests.schemas import valid
from tests.wordings import has, pattern

SECRETS = ("hunter2", "s3cret", "Anna", "4111222233334444", "t0ken", "topsecret")


def contents(file: Path) -> dict[str, str]:
    """Return the texts in an archive by name."""
    if file.name.endswith(".zip"):
        with zipfile.ZipFile(file) as zipped:
            return {name: zipped.read(name).decode() for name in zipped.namelist()}
    found = {}
    with tarfile.open(file) as tar:
        for entry in tar.getmembers():
            data = tar.extractfile(entry)
            assert data is not None
            found[entry.name] = data.read().decode()
    return found


@pytest.fixture
def shop(database: str, own_home: Path) -> str:
    """The target ``shop`` with messages, and with secrets wherever secrets are possible."""
    fill(database, dead=3, alive=2, ready=4)
    query(database, "UPDATE public.jobs SET payload = 'Anna 4111222233334444'")
    own_home.parent.mkdir(parents=True)
    command = '[[notify]]\ncommand = ["/usr/bin/notify", "--token", "t0ken"]\n'
    text = configuration(database, settings='redact = ["topsecret[0-9]+"]') + command
    own_home.write_text(text, encoding="utf-8")
    return database


@pytest.mark.parametrize("ending", [".zip", ".tar.gz"])
def test_the_bundle_has_all_that_a_report_needs_and_nothing_secret(shop: str, tmp_path: Path, ending: str) -> None:
    assert call("status", "shop").exit_code == 0
    assert call("status", "postgresql://me:hunter2@127.0.0.1:1/x").exit_code == 1
    file = tmp_path / f"report{ending}"
    with connected(shop, autocommit=False) as holder:
        holder.execute("SELECT id, 'PWD=s3cret;', 'Anna', 4111222233334444 FROM public.jobs FOR UPDATE")
        done = call("doctor", "shop", "--bundle", str(file))
        holder.rollback()
    assert done.exit_code == 0, done.output
    assert has(done.stdout, BundleText.REVIEW)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    found = contents(file)
    assert set(found) == {"README.txt", "versions.json", "config.json", "doctor.json", "snapshot.json", "qmon.log"}
    assert all(name in done.stdout for name in found)
    for name, text in found.items():
        for secret in SECRETS:
            assert secret not in text, (name, secret)
    versions = json.loads(found["versions.json"])
    assert versions["qmon"] == qmon.__version__
    assert versions["engine"] == "postgres"
    assert "psqlodbc" in versions["driver"]
    assert {"textual", "pyodbc"} <= set(versions["packages"])
    config = json.loads(found["config.json"])
    assert config["targets"]["shop"]["queues"][0]["queue"] == "jobs"
    assert config["receivers"][0]["command"] == ["/usr/bin/notify", "•••", "•••"]
    assert {each["probe"] for each in valid(found["doctor.json"], "doctor")["checks"]} >= {"server", "catalog"}
    assert has(found["qmon.log"], PostgresErrorText.REFUSED)
    for part in ("begins: status", "ends: status, code 0", "begins: doctor"):
        assert part in found["qmon.log"], part


def snapshot(file: Path) -> tuple[dict[str, Any], Any]:
    """Return a bundle's snapshot as stored, and as decoded like a recording."""
    raw = json.loads(contents(file)["snapshot.json"])
    return raw, decode(Snapshot, json.dumps(raw["snapshot"]).encode())


def test_the_snapshot_is_read_as_a_recording_is_and_ends_statements_at_their_first_literal(
    shop: str, tmp_path: Path
) -> None:
    waits = "SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE 'UPDATE public.jobs%'"
    change = "UPDATE public.jobs SET attempts = 0 WHERE payload = 'Anna 4111222233334444'"
    with connected(shop, autocommit=False) as holder:
        holder.execute("LOCK TABLE public.jobs IN SHARE MODE")
        waiter = threading.Thread(target=query, args=(shop, change))
        waiter.start()
        wait_until(lambda: query(shop, waits), what="a waiting session")
        done = call("doctor", "shop", "--bundle", str(tmp_path / "x.tgz"))
        holder.rollback()
    waiter.join()
    assert done.exit_code == 0, done.output
    raw, read = snapshot(tmp_path / "x.tgz")
    assert [samples.layout.queue for samples in read.queues] == ["jobs"]
    assert read.queues[0].layout.payload == "payload"
    assert "Anna" not in json.dumps(raw)
    assert "UPDATE public.jobs SET attempts = •••" in {each.statement for each in read.blocking}


@pytest.mark.server
def test_without_a_target_or_with_one_that_fails_there_is_a_bundle_all_the_same(
    tmp_path: Path, own_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own_home.parent.mkdir(parents=True)
    own_home.write_text('[target.x]\nconnect = "postgresql://a@h/d"\npasword = "hunter2"\n', encoding="utf-8")
    done = call("doctor", "--bundle", str(tmp_path / "a.zip"), "--output", "json")
    assert done.exit_code == 0, done.output
    assert valid(done.stdout, "bundle")["problem"] is None
    found = contents(tmp_path / "a.zip")
    assert "pasword" in json.loads(found["config.json"])["problem"]
    assert "hunter2" not in "".join(found.values())
    own_home.unlink()
    done = call("doctor", "postgresql://a:hunter2@127.0.0.1:1/d", "--bundle", str(tmp_path / "b.zip"))
    assert done.exit_code == 1
    assert has(done.stdout, PostgresErrorText.REFUSED)
    assert "hunter2" not in "".join(contents(tmp_path / "b.zip").values())

    def broken(*_: object) -> None:
        raise RuntimeError

    monkeypatch.setattr("qmon.cli.target_session.ConnectedTarget", broken)
    done = call("doctor", "postgresql://a@127.0.0.1:1/d", "--bundle", str(tmp_path / "c.zip"))
    assert done.exit_code == 1


@pytest.mark.server
def test_a_target_that_cannot_be_polled_is_said_with_its_reason() -> None:
    gone = find_target("postgresql://a@127.0.0.1:1/d", Config(Path("qmon.toml")), {}).target
    with pytest.raises(ConnectionFailed, match=pattern(PostgresErrorText.REFUSED)):
        poll_once(cast(ConnectedTarget, SimpleNamespace(target=gone, configured=())))


@pytest.mark.parametrize("name", ["x.rar", "there.zip", "no/folder/x.zip"])
def test_a_file_that_cannot_be_made_is_bad_input(tmp_path: Path, name: str) -> None:
    (tmp_path / "there.zip").write_text("mine")
    done = call("doctor", "--bundle", str(tmp_path / name))
    assert done.exit_code == 2
    assert done.stderr.count("\n") == 1
    assert (tmp_path / "there.zip").read_text() == "mine"
    assert len(list(tmp_path.glob("*.*"))) == 1


def test_doctor_needs_a_target_otherwise() -> None:
    done = call("doctor")
    assert done.exit_code == 2
    assert has(done.stderr, TargetText.NO_TARGET)
