"""Names that break statements unless they are quoted."""

from __future__ import annotations

from typing import Final

EVIL: Final = '"; drop table x; --'
QUOTED: Final = EVIL.replace('"', '""')
HOSTILE = (
    "[a]]b].[c d]",
    '"; drop table x; --',
    "🐘 queue",
    "it's 100 % {odd} ? :name",
    "back\\slash",
    "$$ $body$ $1",
    "Ünïcode.With.Dots",
)
