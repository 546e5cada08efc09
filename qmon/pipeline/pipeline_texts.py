"""The texts of the pipeline. They need no Spark, so that they can be tested where Spark is not installed."""

from __future__ import annotations

from qmon.texts import Text


class LakeText(Text):
    """Errors about a lake and its tables."""

    NO_LAKE = "{lake} has no lake; create it with: qmon pipeline run --recordings PATH --lake PATH"
    NO_LAKE_TO_CHANGE = "{lake} has no lake; nothing was changed"
    EMPTY = "the lake is empty; fill it with: qmon pipeline run --recordings PATH --lake PATH"
    UNFINISHED_BATCH = (
        "a batch is being written or was interrupted; let `qmon pipeline run` finish it and try again; nothing was "
        "changed"
    )
    SECOND_WRITER = "another process is writing to the lake {lake}; run only one process at a time"
    SECOND_TABLE_WRITER = "another process is writing to the table {table}; run only one process at a time"
    FILES_REWRITTEN = "files of the table {table} were rewritten by another process"
    MANY_COMMITS = "other processes keep committing to the table {table}; try again"
    TIDY_CONFLICT = "another process is writing to the table {table}: {problem}; try again"
    CANNOT_COMMIT = "cannot commit to the table {table}: {problem}"
    CANNOT_MOVE = "cannot move {source} to {destination}"


class IntakeText(Text):
    """Why recordings or archived messages are not added to a lake."""

    NO_RECORDINGS = "the folder {folder} does not exist; record one with: qmon record TARGET --to DIR"
    BATCH_FAILED = "a batch failed and was not written: {cause}"
    DELETED_DAY = "polls of {day} were not added, because this day was deleted from the lake"
    FILE_DELETED = "the file was deleted before it was read"
    NO_MESSAGES_READ = "{queue}: no messages were read: {cause}"
    OTHER_ARCHIVE = (
        "the archive of {queue!r} is a different table than in the last run; the lake has the rows up to {upto:,};"
        " --anew reads all rows as new rows"
    )
    RENUMBERED_ARCHIVE = (
        "the archive of {queue!r} started numbering its rows again: {issued:,}; the lake has the rows up to {upto:,};"
        " --anew reads all rows as new rows"
    )


class ReportText(Text):
    """Why no report or no baselines can be made."""

    NO_FOLDER = "the folder {folder} does not exist"
    NO_SUCH_TARGET = "--zone: the lake has no target {target!r}; it has: {targets}"
    ALL_IN_FUTURE = "all days of the lake are in the future; check the clocks of all machines"
    NO_ENVIRONMENT = "no target has the environment {environments}"
    NO_SUCH_ENVIRONMENT = "no target has the environment {environments}; the lake has the environments: {known}"
    EMPTY_PERIOD = "--from must be before --to, and not in the future"
    NO_DATA = (
        "the lake has no data from {first} to {last}; its newest day is {newest}; choose another period with --from"
        " and --to"
    )
    NO_DATA_FOR = (
        "the lake has no data for {scope} from {first} to {last}; its newest day is {newest}; choose another period"
        " with --from and --to"
    )
