"""One small Spark for all tests. Tests that use it come first, so that they all run in the first worker."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from qmon.pipeline.spark_session import start_session


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The first worker gets the first tests; other workers take the last ones. A second Spark costs ten seconds."""
    items.sort(key=lambda item: "spark" not in getattr(item, "fixturenames", ()))


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    """Start Spark with two threads, two partitions and no web page. Its own files go to the tests' folder."""
    folder = tmp_path_factory.mktemp("spark")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LC_ALL", "C")
        session = start_session("local[2]", small(folder), little_data=True)
    yield session
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)
        session.stop()


def small(folder: Path) -> dict[str, str]:
    """Return settings of a small Spark for tests."""
    return {
        "spark.driver.extraJavaOptions": "-XX:+UseSerialGC",
        "spark.sql.shuffle.partitions": "2",
        "spark.sql.codegen.wholeStage": "false",
        "spark.sql.codegen.factoryMode": "NO_CODEGEN",
        "spark.default.parallelism": "2",
        "spark.local.dir": str(folder / "local"),
        "spark.sql.warehouse.dir": str(folder / "warehouse"),
        "spark.driver.memory": "1g",
    }
