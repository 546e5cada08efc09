"""The options of Spark's Java if the user sets some too."""

from __future__ import annotations

import pytest

from qmon.pipeline.spark_session import java_options


@pytest.mark.parametrize(
    ("theirs", "collector"),
    [
        ("", "-XX:+UseParallelGC"),
        ("-Dx=y", "-XX:+UseParallelGC"),
        ("-XX:+UseG1GC -Dx=y", "-XX:+UseG1GC"),
        ("-XX:+UseStringDeduplication", "-XX:+UseParallelGC"),
    ],
)
def test_java_takes_one_collector(theirs: str, collector: str) -> None:
    options = java_options(theirs).split()
    assert "-XX:-UsePerfData" in options, "otherwise Java leaves a folder in /tmp"
    assert [option for option in options if option.endswith("GC")] == [collector]
    assert set(theirs.split()) <= set(options)
    assert any(option.startswith("-Dlog4j2.configurationFile=file:/") for option in options)


def test_java_compiles_fast_where_there_is_little_to_do() -> None:
    """The user can override it: the last of two options counts."""
    assert java_options(little_data=True).split()[-1] == "-XX:TieredStopAtLevel=1"
    assert java_options("-XX:TieredStopAtLevel=4", little_data=True).split()[-1] == "-XX:TieredStopAtLevel=4"
    assert "TieredStopAtLevel" not in java_options()
