"""``qmon init`` at a terminal asks about facts it could not find out, and its file is watched with these answers."""

from __future__ import annotations

from pathlib import Path

from qmon.cli.init_questions import AnswerText, QuestionText
from qmon.config.config_file import read_config
from qmon.monitor.catalog.newest_times import NewestTimeText
from tests.cli.calling import call
from tests.cli.pseudo_terminal import Terminal
from tests.contract.watching import watching
from tests.facts import query

UNKNOWN = """
CREATE TABLE work_queue (
    id bigserial PRIMARY KEY, kind text, ausgabe text,
    schritt text CHECK (schritt IN ('neu', 'nochmal', 'laeuft', 'halt')),
    faellig bigint, payload text
);
INSERT INTO work_queue (ausgabe, schritt, faellig)
SELECT ausgabe, schritt, extract(epoch FROM now()) + due
FROM (VALUES ('a', 'neu', -60), ('a', 'nochmal', -5), ('a', 'neu', 3600), ('b', 'laeuft', -60), ('b', 'halt', 0))
    AS rows (ausgabe, schritt, due);
"""
ANSWERS = (
    (QuestionText.IS_QUEUE, "y"),
    (QuestionText.ID, "id"),
    (QuestionText.QUEUE, "ausgabe"),
    (QuestionText.STATE, "schritt"),
    (QuestionText.MEANS.render(column="schritt", value="halt"), "blocked"),
    (QuestionText.MEANS.render(column="schritt", value="laeuft"), "in_progress"),
    (QuestionText.MEANS.render(column="schritt", value="neu"), "ready"),
    (QuestionText.MEANS.render(column="schritt", value="nochmal"), "ready"),
    (QuestionText.DUE_AT, "faellig"),
    (QuestionText.STARTED_AT, "-"),
    (QuestionText.UNIT, "unix"),
)


def test_what_was_answered_is_written_and_watched(database: str, tmp_path: Path, own_home: Path) -> None:
    query(database, UNKNOWN)
    place = tmp_path / "shop.toml"
    terminal = Terminal("init", database, "--config", str(place), home=own_home.parents[1])
    for question, answer in ANSWERS:
        terminal.expect(question)
        terminal.type(answer)
    assert terminal.end() == 0, terminal.seen
    (target,) = read_config(place).targets.values()
    with watching(database, target.queues) as watched:
        view = watched.view(lambda view: len(view.queues) == 2 and not view.failures, polls=2)
    told = {q.name: (q.ready.value, q.scheduled.value, q.in_progress.value, q.blocked.value) for q in view.queues}
    assert told == {"work_queue/a": (2, 1, 0, 0), "work_queue/b": (0, 0, 1, 1)}


def test_it_asks_what_the_times_of_a_queue_are_whose_default_is_that_of_the_session(
    database: str, tmp_path: Path, own_home: Path
) -> None:
    query(
        database,
        "CREATE TABLE mail_queue (id bigserial PRIMARY KEY,"
        " status text NOT NULL CHECK (status IN ('ready', 'working')), payload text,"
        " attempts int, created_at timestamp DEFAULT now())",
    )
    query(database, "SET timezone = 'Asia/Tokyo'; INSERT INTO mail_queue (status) VALUES ('ready')")
    place = tmp_path / "shop.toml"
    terminal = Terminal("init", database, "--config", str(place), home=own_home.parents[1])
    terminal.expect(NewestTimeText.AHEAD.render(time="9 h 00 m"))
    terminal.expect(QuestionText.ZONE.render(columns="created_at", no_answer="-"))
    terminal.type("Asia/Tokio")
    terminal.expect(AnswerText.NOT_A_ZONE.render(answer="Asia/Tokio"))
    terminal.type("Asia/Tokyo")
    assert terminal.end() == 0, terminal.seen
    (target,) = read_config(place).targets.values()
    with watching(database, target.queues) as watched:
        queue = watched.queue("mail_queue", lambda q: q.oldest.value is not None)
    assert 0 <= (queue.oldest.value or 0) < 600


def test_what_is_no_queue_is_not_written_and_a_wrong_word_is_asked_again(
    database: str, tmp_path: Path, own_home: Path
) -> None:
    query(database, UNKNOWN)
    place = tmp_path / "shop.toml"
    terminal = Terminal("init", database, "--config", str(place), home=own_home.parents[1])
    terminal.expect(QuestionText.IS_QUEUE)
    terminal.type("n")
    assert terminal.end() == 0, terminal.seen
    assert "work_queue" not in place.read_text()
    again = Terminal("init", database, "--config", str(place), "--force", home=own_home.parents[1])
    again.expect(QuestionText.IS_QUEUE)
    again.type("y")
    again.expect(QuestionText.ID)
    again.type("nothing")
    again.expect(AnswerText.NOT_A_CHOICE.render(answer="nothing"))
    again.process.terminate()
    again.end()
    assert "work_queue" not in place.read_text()


def test_without_a_terminal_it_asks_nothing(database: str, tmp_path: Path) -> None:
    query(database, UNKNOWN)
    done = call("init", database, "--config", str(tmp_path / "shop.toml"))
    assert done.exit_code == 0, done.output
    assert QuestionText.IS_QUEUE not in done.output
    assert 'design = "fifo"' in (tmp_path / "shop.toml").read_text()
