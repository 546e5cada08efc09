"""Random tables: keys, triggers, partitions, foreign keys, policies, and changes to them.

Rows are in lots. A trigger, a policy or a foreign key affects the rows of one lot.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Final, Literal

import pyodbc

from qmon.model.layout.layout import Layout, ObjectName, OwnerColumn, StateColumn

ROLE: Final = "hostile_operator"
Act = Literal["purge", "requeue"]

_KEYS: Final = {
    "none": "",
    "number": ", PRIMARY KEY (seq)",
    "whole": ", PRIMARY KEY (tenant, seq)",
    "unique": ", UNIQUE (tenant, seq)",
    "deferred": ", PRIMARY KEY (tenant, seq) DEFERRABLE INITIALLY DEFERRED",
    "state": ", UNIQUE (status, tenant, seq)",
}
# Keys that identify a row.
KEYED: Final = ("number", "whole", "unique", "deferred")
_PUSHED: Final = "INSERT INTO q (tenant, seq, status, lot, payload) VALUES (OLD.tenant, OLD.seq, 2, 0, OLD.payload)"


@dataclass(frozen=True, slots=True)
class _Trigger:
    """``lot``: the affected rows. ``stays``: actions that cannot change them, or that cannot put them back."""

    when: str
    lot: int
    body: str
    stays: tuple[str, ...]
    deferred: bool = False


_TRIGGERS: Final = {
    "soft": _Trigger(
        "BEFORE DELETE", 3, "UPDATE q SET note = 'deleted' WHERE payload = OLD.payload; RETURN NULL;", ("purge",)
    ),
    "kept": _Trigger("BEFORE DELETE", 4, "RAISE 'it stays';", ("purge",)),
    "again": _Trigger("AFTER DELETE", 5, f"{_PUSHED};", ("purge",)),
    "again_late": _Trigger("AFTER DELETE", 16, f"{_PUSHED};", ("purge",), deferred=True),
    "renumber": _Trigger("BEFORE INSERT", 6, "NEW.seq = NEW.seq + 100000; RETURN NEW;", ("back",)),
    "as_new": _Trigger("BEFORE INSERT", 22, "NEW.status = 1; RETURN NEW;", ("back",)),
    "dropped": _Trigger("BEFORE INSERT", 7, "RETURN NULL;", ("back",)),
    "away": _Trigger("AFTER INSERT", 14, "DELETE FROM q WHERE payload = NEW.payload;", ("back",)),
    "away_late": _Trigger("AFTER INSERT", 20, "DELETE FROM q WHERE payload = NEW.payload;", ("back",), deferred=True),
    "stamp": _Trigger("BEFORE INSERT OR UPDATE", -1, "NEW.note = 'stamped'; RETURN NEW;", ()),
    "frozen": _Trigger("BEFORE UPDATE", 8, "RETURN NULL;", ("requeue",)),
    "late": _Trigger("AFTER UPDATE OR DELETE", 9, "RAISE 'it stays';", ("purge", "requeue")),
    "reverted": _Trigger("BEFORE UPDATE", 13, "NEW.status = OLD.status; RETURN NEW;", ("requeue",)),
    "rekeyed": _Trigger("BEFORE UPDATE", 15, "NEW.seq = NEW.seq + 70000; RETURN NEW;", ("requeue",)),
    "undone": _Trigger(
        "AFTER UPDATE",
        21,
        "IF NEW.status = 1 THEN UPDATE q SET status = 2 WHERE payload = NEW.payload; END IF;",
        ("requeue",),
    ),
}
_CHILDREN: Final = ("NO ACTION", "RESTRICT", "CASCADE", "SET NULL", "NO ACTION DEFERRABLE INITIALLY DEFERRED")
_POLICIES: Final = {
    "one": ("CREATE POLICY seen ON q TO {role} USING (lot <> 11) WITH CHECK (lot <> 12)",),
    "each": (
        "CREATE POLICY seen ON q FOR SELECT TO {role} USING (true)",
        "CREATE POLICY changed ON q FOR UPDATE TO {role} USING (lot <> 17) WITH CHECK (true)",
        "CREATE POLICY deleted ON q FOR DELETE TO {role} USING (lot <> 18)",
        "CREATE POLICY pushed ON q FOR INSERT TO {role} WITH CHECK (lot <> 12)",
    ),
}
_BARRED: Final = {
    "one": {"purge": (), "requeue": (12,), "back": (12,)},
    "each": {"purge": (17, 18), "requeue": (17,), "back": (12,)},
}
# Possible changes of a table between plan and apply, with their probabilities.
CHANGES: Final = {
    "popped": ("UPDATE q SET status = 2, owner = 'else' WHERE lot = 1",),
    "done": ("UPDATE q SET status = 3 WHERE lot IN (2, 10)",),
    "gone": ("DELETE FROM q WHERE lot = 2",),
    "pushed": (
        "INSERT INTO q (tenant, seq, status, lot, payload, since)"
        " SELECT 'a', 9000 + i, 1, 0, 'late ' || i, now() FROM generate_series(1, 5) AS i",
    ),
    "renumbered": ("UPDATE q SET seq = seq + 5000 WHERE lot = 0",),
    "moved": ("UPDATE q SET tenant = CASE tenant WHEN 'a' THEN 'b' ELSE 'a' END, seq = seq + 6000 WHERE lot = 22",),
    # Other rows in the same place, with the same key, state, time and owner.
    "replaced": (
        "CREATE TEMP TABLE twins AS SELECT * FROM q WHERE lot IN (0, 1, 2)",
        "ALTER TABLE q DISABLE TRIGGER USER",
        "DELETE FROM q WHERE lot IN (0, 1, 2)",
        "VACUUM (INDEX_CLEANUP ON, TRUNCATE OFF) q",
        "INSERT INTO q (tenant, seq, status, owner, since, lot, note, payload)"
        " SELECT tenant, seq, status, owner, since, lot, note, 'twin of ' || payload FROM twins",
        "ALTER TABLE q ENABLE TRIGGER USER",
        "DROP TABLE twins",
    ),
    "rewritten": (
        "ALTER TABLE q DISABLE TRIGGER USER",
        "DELETE FROM q WHERE payload IN ('m1', 'm2', 'm3')",
        "ALTER TABLE q ENABLE TRIGGER USER",
        "VACUUM FULL q",
    ),
    "column": (
        "ALTER TABLE q ADD COLUMN more text",
        "ALTER TABLE q DISABLE TRIGGER USER",
        "UPDATE q SET more = payload WHERE lot > 15",
        "ALTER TABLE q ENABLE TRIGGER USER",
    ),
    "altered": ("ALTER TABLE q ALTER COLUMN lot TYPE bigint",),
    "trigger": (
        "CREATE TRIGGER new_one BEFORE UPDATE ON q FOR EACH ROW EXECUTE FUNCTION suppress_redundant_updates_trigger()",
    ),
}
# The lot that another session sometimes locks in the meantime.
HELD: Final = 19


class Drawn:
    """One table drawn by a seed, and its layout for qmon."""

    def __init__(self, chance: random.Random, rows: int) -> None:
        self.rows = rows
        self.act: Act = chance.choice(["purge", "requeue"])
        self.key = chance.choice(["none", *_KEYS])
        meant = {self.act, *(["back"] if self.act == "purge" else [])}
        telling = [name for name, each in _TRIGGERS.items() if not each.stays or meant & {*each.stays}]
        self.triggers = chance.sample(telling, chance.choice([0, 1, 2, 3, 4]))
        self.child = chance.choice([None, None, *_CHILDREN]) if self.key in ("number", "whole") else None
        self.parts = self.key in ("none", "whole", "unique") and chance.random() < 0.3
        self.policy = chance.choice([None, None, None, *_POLICIES])
        self.only_one = chance.random() < 0.3
        short = self.key == "number" or chance.random() < 0.5
        self.layout = Layout(
            "q",
            "status",
            ObjectName("public", "q"),
            id="seq",
            key=() if short else ("tenant", "seq"),
            state=StateColumn("status", 1, 2, 3, 4),
            started_at="since",
            owner=OwnerColumn("owner", "name"),
            payload="payload",
            timeout_s=0.0,
        )

    def __str__(self) -> str:
        parts = [self.act, f"key {self.key}", *self.triggers]
        parts += [f"child {self.child}"] if self.child else []
        parts += [f"policy {self.policy}"] if self.policy else []
        return ", ".join([*parts, *(["partitions"] if self.parts else []), *(["one ready"] if self.only_one else [])])

    def stays(self, what: str) -> set[int]:
        """Return the lots that a purge or a requeue may skip, or the lots that an undo may skip if ``back``."""
        out = {each.lot for name in self.triggers if what in (each := _TRIGGERS[name]).stays}
        out |= {*_BARRED[self.policy][what]} if self.policy else set()
        out |= {10} if self.child and what == "purge" else set()
        return out | ({0, 1, 2} if self.only_one and what == "requeue" else set())

    def make(self, raw: pyodbc.Connection) -> None:
        """Create the table and fill it, in place of the previous one."""
        columns = "tenant text NOT NULL, seq bigint NOT NULL, status int, owner text, since timestamptz, lot int,"
        columns += " note text, payload text, twice bigint GENERATED ALWAYS AS (seq * 2) STORED"
        parted = " PARTITION BY LIST (tenant)" if self.parts else ""
        raw.execute("DROP TABLE IF EXISTS child, q CASCADE")
        raw.execute(f"CREATE TABLE q ({columns}{_KEYS[self.key]}){parted}")
        for tenant in ("a", "b") if self.parts else ():
            raw.execute(f"CREATE TABLE q_{tenant} PARTITION OF q FOR VALUES IN ('{tenant}')")
        # If numbers need not be unique, each occurs twice, once per tenant. One row in five is in another state.
        number = "i" if self.key == "number" else "i / 2"
        state = "CASE WHEN i % 5 <> 0 OR (i * 7) % 23 < 3 THEN 2 ELSE 1 + (i / 5) % 2 * 2 END"
        values = f"chr(97 + i % 2), {number}, {state}, 'w' || i % 3, now() - interval '1 h', (i * 7) % 23, 'm' || i"
        raw.execute(
            "INSERT INTO q (tenant, seq, status, owner, since, lot, payload)"
            f" SELECT {values} FROM generate_series(1, {self.rows}) AS i"
        )
        if self.only_one:  # the first rows of the lots: only one may be ready
            raw.execute("CREATE UNIQUE INDEX one_ready ON q (tenant, lot) WHERE status = 1 AND lot < 3")
        for name in self.triggers:
            self._trigger(raw, name)
        if self.child is not None:
            key = "(tenant, seq)" if self.key == "whole" else "(seq)"
            foreign = f"FOREIGN KEY {key} REFERENCES q {key} ON DELETE {self.child}"
            raw.execute(f"CREATE TABLE child (tenant text, seq bigint, {foreign})")
            raw.execute("INSERT INTO child SELECT tenant, seq FROM q WHERE lot = 10")
        if self.policy is not None:
            raw.execute("ALTER TABLE q ENABLE ROW LEVEL SECURITY")
            for each in _POLICIES[self.policy]:
                raw.execute(each.format(role=ROLE))
        raw.execute(f"GRANT ALL ON ALL TABLES IN SCHEMA public TO {ROLE}")

    def _trigger(self, raw: pyodbc.Connection, name: str) -> None:
        each = _TRIGGERS[name]
        row = "NEW" if "INSERT" in each.when or each.when.endswith("UPDATE") else "OLD"
        other = f"RETURN {'OLD' if each.when.endswith('DELETE') else 'NEW'};"
        body = each.body if each.lot < 0 else f"IF {row}.lot = {each.lot} THEN {each.body} END IF; {other}"
        made = f"CREATE OR REPLACE FUNCTION t_{name}() RETURNS trigger LANGUAGE plpgsql SET search_path = public"
        raw.execute(f"{made} AS $$ BEGIN {body} END $$")
        kind, wait = ("CONSTRAINT ", " DEFERRABLE INITIALLY DEFERRED") if each.deferred else ("", "")
        raw.execute(f"CREATE {kind}TRIGGER t_{name} {each.when} ON q{wait} FOR EACH ROW EXECUTE FUNCTION t_{name}()")
