"""The same rollups of the same segments with DuckDB and Polars, each in its own process with declared columns.

``duckdb-parquet`` reads the Parquet files that the recorder writes next to the segments, as qmon does.
Samples, minutes, hours with the duration of each value, and days, as Parquet files. The input has one recorder, no
damage and no duplicates, and nothing is looked up or replaced. Usage:
``python -m tests.benchmarks.rollups_elsewhere duckdb ROOT OUT``.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from tests.benchmarks.fresh import Used, used

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

READERS: Final = ("duckdb", "duckdb-parquet", "polars")
_LISTS: Final = {
    **dict.fromkeys(("queue", "design", "verdict", "proof"), "VARCHAR"),
    **dict.fromkeys(("ready", "in_progress", "stuck", "oldest_s", "scheduled", "dead", "fill", "gap"), "DOUBLE"),
    **dict.fromkeys(("span_s", "pushed", "popped", "completed", "since_at"), "DOUBLE"),
    "severity": "INTEGER",
}
_SUMS: Final = """count(*) AS samples, sum(watched) AS seconds, sum(CASE WHEN flowing THEN span_s ELSE 0 END) AS flow_s,
    sum(pushed) FILTER (flowing) AS pushed, sum(popped) FILTER (flowing) AS popped,
    sum(completed) FILTER (flowing) AS completed,
    sum(ready * watched) AS ready_s, sum(watched) FILTER (ready IS NOT NULL) AS ready_known_s,
    max(ready) FILTER (watched > 0) AS ready_max, arg_max(ready, sampled_at) AS ready_last,
    sum(oldest_s * watched) AS oldest_s, sum(watched) FILTER (oldest_s IS NOT NULL) AS oldest_known_s,
    max(oldest_s) FILTER (watched > 0) AS oldest_max,
    sum(in_progress * watched) AS in_progress_s, sum(watched) FILTER (in_progress IS NOT NULL) AS in_progress_known_s,
    max(in_progress) FILTER (watched > 0) AS in_progress_max, arg_max(dead, sampled_at) AS dead_last"""
_AGAIN: Final = ", ".join(
    [
        *(
            f"sum({name}) AS {name}"
            for name in (
                "samples",
                "seconds",
                "flow_s",
                "pushed",
                "popped",
                "completed",
                "ready_s",
                "ready_known_s",
                "oldest_s",
                "oldest_known_s",
                "in_progress_s",
                "in_progress_known_s",
            )
        ),
        *(f"max({name}_max) AS {name}_max" for name in ("ready", "oldest", "in_progress")),
        *(f"arg_max({name}, start_at) AS {name}" for name in ("ready_last", "dead_last")),
    ]
)


def measured(reader: str, root: Path, out: Path) -> Used:
    """Run a reader in its own process."""
    return used(sys.executable, "-m", "tests.benchmarks.rollups_elsewhere", reader, str(root), str(out))


def duckdb(root: Path, out: Path) -> int:
    """Roll up the segments in SQL; return the number of samples."""
    connection = _connect()
    lists = ", ".join(f"{name} {kind}[]" for name, kind in _LISTS.items())
    columns = f"STRUCT(sequence BIGINT, sampled_at DOUBLE, poll_s DOUBLE, {lists})"
    each = ", ".join(f"unnest(figures.{name}) AS {name}" for name in _LISTS)
    source = "read_json(?, format = 'newline_delimited', compression = 'zstd', filename = true, columns = ?)"
    said = {"r": "VARCHAR", "n": "BIGINT", "k": "VARCHAR", "figures": columns}
    place = "regexp_extract(filename, 'target=([^/]+)', 1)"
    connection.execute(
        f"CREATE TABLE lines AS SELECT {place} AS target, r AS recorder, n AS sequence, figures FROM {source} "
        "WHERE k = 'figures'",
        [f"{root}/**/*.jsonl.zst", said],
    )
    connection.execute(
        f"CREATE TABLE samples AS SELECT target, recorder, sequence, figures.sampled_at AS sampled_at, "
        f"figures.poll_s AS poll_s, {each} FROM lines"
    )
    return _roll_up(connection, out)


def duckdb_parquet(root: Path, out: Path) -> int:
    """Roll up the Parquet files next to the segments in SQL; return the number of samples."""
    connection = _connect()
    columns = ", ".join(("target", "recorder", "sequence", "sampled_at", "poll_s", *_LISTS))
    source = "read_parquet(?, hive_partitioning = false)"
    connection.execute(
        f"CREATE TABLE samples AS SELECT {columns} FROM {source} WHERE kind = 'sample'",
        [f"{root}/**/*.figures.parquet"],
    )
    return _roll_up(connection, out)


def _connect() -> DuckDBPyConnection:
    import duckdb

    connection = duckdb.connect()
    connection.execute("SET threads = 2")
    connection.execute("SET preserve_insertion_order = false")
    return connection


def _roll_up(connection: DuckDBPyConnection, out: Path) -> int:
    """Write the samples and roll them up; return their number."""
    connection.execute(f"COPY samples TO '{out}/samples.parquet'")
    marked = (
        "SELECT *, CASE WHEN poll_s > 0 AND poll_s <= 150 THEN poll_s ELSE 0 END AS watched, "
        "coalesce(span_s > 0 AND pushed IS NOT NULL AND popped IS NOT NULL, false) AS flowing FROM samples"
    )
    connection.execute(
        f"CREATE TABLE minutes AS SELECT target, queue, floor(sampled_at / 60) * 60 AS start_at, recorder, {_SUMS} "
        f"FROM ({marked}) GROUP BY ALL"
    )
    for figure, column in (("ready", "ready"), ("oldest", "oldest_s")):
        step = f"power(2, floor(log2({column})) - 6)"
        value = f"CASE WHEN {column} > 0 THEN round_even({column} / {step}, 0) * {step} ELSE {column} END"
        connection.execute(
            f"CREATE TABLE {figure}_lasted AS SELECT target, queue, floor(sampled_at / 3600) * 3600 AS start_at, "
            f"{value} AS value, sum(CAST(round(watched * 1000) AS BIGINT)) AS ms FROM ({marked}) "
            f"WHERE {column} IS NOT NULL AND watched > 0 GROUP BY ALL"
        )
    finer = "minutes"
    for table, seconds in (("hours", 3600), ("days", 86400)):
        maps = [
            f"(SELECT target, queue, start_at, map(list(value ORDER BY value), list(ms ORDER BY value)) AS {figure}_ms "
            f"FROM (SELECT target, queue, floor(start_at / {seconds}) * {seconds} AS start_at, value, sum(ms) AS ms "
            f"FROM {figure}_lasted GROUP BY ALL) GROUP BY ALL)"
            for figure in ("ready", "oldest")
        ]
        sums = (
            f"SELECT target, queue, floor(start_at / {seconds}) * {seconds} AS start_at, "
            f"{_AGAIN.replace('start_at', 'f.start_at')} FROM {finer} f GROUP BY ALL"
        )
        key = "USING (target, queue, start_at)"
        connection.execute(
            f"CREATE TABLE {table} AS SELECT * FROM ({sums}) LEFT JOIN {maps[0]} {key} LEFT JOIN {maps[1]} {key}"
        )
        finer = table
    for table in ("minutes", "hours", "days"):
        connection.execute(f"COPY {table} TO '{out}/{table}.parquet'")
    (row,) = connection.execute("SELECT count(*), (SELECT count(*) FROM hours) FROM samples").fetchall()
    return int(row[0])


def polars(root: Path, out: Path) -> int:
    """Roll up everything with one lazy frame per table; return the number of samples."""
    import polars as pl
    import zstandard

    kinds = {"VARCHAR": pl.String, "DOUBLE": pl.Float64, "INTEGER": pl.Int32}
    inside: dict[str, Any] = {"sequence": pl.Int64, "sampled_at": pl.Float64, "poll_s": pl.Float64}
    inside |= {name: pl.List(kinds[kind]) for name, kind in _LISTS.items()}
    schema: Any = {"r": pl.String, "n": pl.Int64, "k": pl.String, "figures": pl.Struct(inside)}
    parts = []
    for path in sorted(root.rglob("*.jsonl.zst")):
        with path.open("rb") as file:  # polars cannot read compressed lines
            text = zstandard.ZstdDecompressor().stream_reader(file, read_across_frames=True).read()
        lines = pl.read_ndjson(text, schema=schema).filter(pl.col("k") == "figures")
        target = path.parents[1].name.removeprefix("target=")
        wide = lines.select(pl.lit(target).alias("target"), pl.col("r").alias("recorder"), "figures").unnest("figures")
        some = [name for name in _LISTS if wide[name].null_count() < len(wide)]
        flat = wide.with_columns(
            pl.when(pl.col(name).is_null() | (pl.col(name).list.len() == 0))
            .then(pl.col("queue").list.eval(pl.lit(None, dtype=kinds[_LISTS[name]])))
            .otherwise(pl.col(name))
            .alias(name)
            for name in some
            if name != "queue"
        )
        missing = [pl.lit(None, dtype=kinds[_LISTS[name]]).alias(name) for name in _LISTS if name not in some]
        parts.append(flat.drop([name for name in _LISTS if name not in some]).explode(some).with_columns(missing))
    samples = pl.concat(parts, how="diagonal")
    samples.write_parquet(out / "samples.parquet")
    flowing = (pl.col("span_s") > 0) & pl.col("pushed").is_not_null() & pl.col("popped").is_not_null()
    marked = samples.with_columns(
        watched=pl.when(pl.col("poll_s").is_between(0, 150, closed="right")).then("poll_s").otherwise(0.0),
        flowing=flowing.fill_null(False),
        start_at=(pl.col("sampled_at") / 60).floor() * 60,
    )
    known = {"ready": "ready", "oldest": "oldest_s", "in_progress": "in_progress"}
    minutes = marked.group_by("target", "queue", "start_at", "recorder").agg(
        samples=pl.len(),
        seconds=pl.col("watched").sum(),
        flow_s=pl.col("span_s").filter("flowing").sum(),
        **{name: pl.col(name).filter("flowing").sum() for name in ("pushed", "popped", "completed")},
        **{f"{name}_s": (pl.col(column) * pl.col("watched")).sum() for name, column in known.items()},
        **{f"{name}_known_s": pl.col("watched").filter(pl.col(of).is_not_null()).sum() for name, of in known.items()},
        **{f"{name}_max": pl.col(column).filter(pl.col("watched") > 0).max() for name, column in known.items()},
        ready_last=pl.col("ready").sort_by("sampled_at").last(),
        dead_last=pl.col("dead").sort_by("sampled_at").last(),
    )
    minutes.write_parquet(out / "minutes.parquet")
    finer = minutes
    for table, seconds in (("hours", 3600), ("days", 86400)):
        added = ("samples", "seconds", "pushed", "popped", "completed")
        summed = [name for name in finer.columns if name.endswith("_s") or name in added]
        longer = finer.with_columns(pl.col("start_at").alias("at"), (pl.col("start_at") / seconds).floor() * seconds)
        found = longer.group_by("target", "queue", "start_at").agg(
            *(pl.col(name).sum() for name in summed),
            *(pl.col(f"{name}_max").max() for name in known),
            *(pl.col(name).sort_by("at").last() for name in ("ready_last", "dead_last")),
        )
        for name in ("ready", "oldest"):
            value = pl.col(known[name])
            step = pl.lit(2.0).pow(value.log(2).floor() - 6)
            lasted = (
                marked.filter((pl.col("watched") > 0) & value.is_not_null())
                .select(
                    "target",
                    "queue",
                    ((pl.col("sampled_at") / seconds).floor() * seconds).alias("start_at"),
                    pl.when(value > 0).then((value / step).round() * step).otherwise(value).alias("value"),
                    (pl.col("watched") * 1000).round().cast(pl.Int64).alias("ms"),
                )
                .group_by("target", "queue", "start_at", "value")
                .agg(pl.col("ms").sum())
                .group_by("target", "queue", "start_at")
                .agg(pl.struct("value", "ms").sort().alias(f"{name}_ms"))
            )
            found = found.join(lasted, on=["target", "queue", "start_at"], how="left")
        found.write_parquet(out / f"{table}.parquet")
        finer = found.select(minutes.drop("recorder").columns)
    return samples.height


def main() -> None:
    """Arguments: one of ``READERS``, the folder of the recordings, and the output folder."""
    reader, root, out = sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3])
    out.mkdir(parents=True, exist_ok=True)
    samples = {"duckdb": duckdb, "duckdb-parquet": duckdb_parquet, "polars": polars}[reader](root, out)
    sys.stdout.write(json.dumps({"samples": samples}))


if __name__ == "__main__":
    main()
