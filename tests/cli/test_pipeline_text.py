"""What ``qmon pipeline report`` prints on a terminal."""

from __future__ import annotations

from qmon.cli.commands.pipeline.text import blocks


def test_a_plot_is_as_high_as_the_highest_of_each_share() -> None:
    assert blocks([0.0, 4.0, None, 8.0]) == "▁▄ █"
    assert blocks([]) == "" and blocks([None, 0.0]) == " ▁"
    long = blocks([float(n) for n in range(120)])
    assert len(long) == 60 and long[0] == "▁" and long[-1] == "█"
