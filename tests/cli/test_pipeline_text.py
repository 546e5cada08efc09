"""The output of ``qmon pipeline report`` on a terminal."""

from __future__ import annotations

from qmon.cli.commands.pipeline.report_text import block_line


def test_a_plot_is_as_high_as_the_highest_of_each_share() -> None:
    assert block_line([0.0, 4.0, None, 8.0]) == "▁▄ █"
    assert block_line([]) == "" and block_line([None, 0.0]) == " ▁"
    long = block_line([float(n) for n in range(120)])
    assert len(long) == 60 and long[0] == "▁" and long[-1] == "█"
