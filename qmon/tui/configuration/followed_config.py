"""The ``qmon.toml`` of a dashboard: reloads the file when it changes, and adds queues to the file."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Final

from qmon.config.add_queues import append_blocks, unused_name
from qmon.config.config_file import Config, TargetConfig, read_config
from qmon.engines.base import Session, Target
from qmon.engines.registry import engine_for
from qmon.errors import BadInput
from qmon.model.groups.configured_queue import ConfiguredQueue
from qmon.monitor.catalog.discovery.candidates import Candidate
from qmon.monitor.catalog.proposal import candidate_block, read_known_and_found, short_target_name, without_password
from qmon.texts import Text

CHECK_EVERY_S: Final = 2.0
_SESSION: Final = Session("init", statement_timeout_s=15.0, lock_timeout_s=1.0, read_only=True)


class FollowedConfigText(Text):
    """Problems of the file."""

    TARGET_GONE = "{path} no longer contains {target}"
    SETTINGS_STAY = "{path} no longer contains {target}; its last settings stay in effect"


class FollowedConfig:
    """A configuration file that is watched for changes. Not thread-safe, except for ``find_queues``.

    Args:
        config: the configuration that was read from the file.
        typed: the target as the user typed it: a name in the configuration, or another address that ``choose`` accepts.
        target: the target with its password.
        watch_queues: called with the configured queues to watch from now on.
        clock: the local monotonic clock, in seconds.
    """

    def __init__(
        self,
        config: Config,
        typed: str,
        target: Target,
        watch_queues: Callable[[Sequence[ConfiguredQueue]], None],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.config = config
        self._typed = typed
        self._name = typed if typed in config.targets else ""
        self._target = target
        self._watch_queues = watch_queues
        self._clock = clock
        self._checked_at = clock()
        self._seen_stamp = self._file_stamp()

    @property
    def target_config(self) -> TargetConfig | None:
        """The target's section of the configuration; ``None`` if there is no such section."""
        return self.config.targets.get(self._name)

    def reload_if_changed(self) -> Config | None:
        """Return the configuration if its file has changed since the last reading, otherwise ``None``.

        If the configured queues have changed, the new queues are watched from now on.

        Raises:
            BadInput: the file cannot be read. Each change raises only once, and the previous configuration stays in
                use.
        """
        if self._clock() - self._checked_at < CHECK_EVERY_S:
            return None
        self._checked_at = self._clock()
        if (now := self._file_stamp()) == self._seen_stamp or now is None:  # editors may remove the file while saving
            return None
        self._seen_stamp = now
        config = read_config(self.config.path)
        if self._name and self._name not in config.targets:
            raise BadInput(FollowedConfigText.SETTINGS_STAY.render(path=config.path, target=self._name))
        self._use_config(config)
        return config

    def find_queues(self) -> list[Candidate]:
        """Return the tables that look like queues and are not configured, the most certain first.

        Uses its own connection. Raises ``QmonError`` if connecting or reading the catalog fails.
        """
        known = self._target_in(self.config)
        connection = engine_for(self._target).connect(self._target, _SESSION)
        try:
            return read_known_and_found(connection, engine_for(self._target), () if known is None else known.queues)[1]
        finally:
            connection.close()

    def add_queues(self, chosen: Sequence[Candidate]) -> list[Candidate]:
        """Append queues to the file, and the target if the file does not contain it. Watch the queues.

        Returns the queues that were written: tables that are already in the file are skipped.

        Raises:
            BadInput: the file cannot be read or written. The file is left unchanged.
        """
        path, connect = self.config.path, without_password(self._typed)
        now = read_config(path) if path.exists() else Config(path)  # another program may have changed the file
        if self._name and self._name not in now.targets:
            raise BadInput(FollowedConfigText.TARGET_GONE.render(path=path, target=self._name))
        known = self._target_in(now)
        new = [each for each in chosen if known is None or not known.names_table(each.layout.table)]
        name = unused_name(short_target_name(self._target.name), now) if known is None else known.name
        if new:
            blocks = [candidate_block(name, each) for each in new]
            now = append_blocks(path, name, connect if known is None else None, blocks)
        self._name, self._seen_stamp = name, self._file_stamp()
        self._use_config(now)
        return new

    def _target_in(self, config: Config) -> TargetConfig | None:
        """Return the target in this configuration, by its name or, if the user typed an address, by its address."""
        if self._name:
            return config.targets.get(self._name)
        address = without_password(self._typed)
        return next((each for each in config.targets.values() if each.connect == address), None)

    def _use_config(self, config: Config) -> None:
        before = self.target_config
        self.config = config
        known = self.target_config
        if known is not None and known.queues != (() if before is None else before.queues):
            self._watch_queues(known.queues)

    def _file_stamp(self) -> tuple[int, int, int] | None:
        """Return values that change with the file; ``None`` if there is no file."""
        try:
            found = self.config.path.stat()
        except OSError:
            return None
        return found.st_mtime_ns, found.st_size, found.st_ino
