"""The map of rights: it shows our role's rights, and the GRANT it suggests adds a missing one."""

from __future__ import annotations

import pytest

from qmon.cli.commands.doctor.doctor import ExaminationText
from qmon.engines.registry import engine_for
from qmon.monitor.probe_checks import Right, check_rights
from tests.cli.calling import call
from tests.contract.engines import opened, sql
from tests.contract.watching import target_of


def found(url: str) -> dict[str, Right]:
    with opened(url) as connection:
        return {right.name: right for right in check_rights(connection, engine_for(target_of(url)))}


@pytest.fixture
def modest(database: str) -> str:
    """The URL of the database for a role without special rights and with an odd name."""
    with opened(database) as connection:
        connection.execute(sql('CREATE ROLE "no; one" LOGIN'))
    return database.replace("postgres@", "no%3B%20one@", 1)


def test_the_grant_that_is_named_gives_the_right(database: str, modest: str) -> None:
    try:
        before = found(modest)
        assert [right.held for right in before.values()] == [False, False]
        assert before["pg_read_all_stats"].grant == 'GRANT pg_read_all_stats TO "no; one"'
        told = call("doctor", modest).output
        assert "pg_signal_backend" in told
        assert ExaminationText.GRANT.render(grant='GRANT pg_read_all_stats TO "no; one"') in told
        with opened(database) as connection:
            connection.execute(sql(before["pg_read_all_stats"].grant))
        after = found(modest)
        assert after["pg_read_all_stats"].held
        assert not after["pg_signal_backend"].held
        assert all(right.held for right in found(database).values())
    finally:
        with opened(database) as connection:
            connection.execute(sql('DROP ROLE "no; one"'))
