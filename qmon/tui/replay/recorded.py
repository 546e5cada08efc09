"""The dashboard while what it shows is recorded: a sign in the header, and a loud word when recording has stopped."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

from qmon.recording.write.recorder import Recorder
from qmon.tui.app import QmonApp
from qmon.tui.shared.sanitize import clean

RECORDING: Final = "REC"
STOPPED: Final = "NOT RECORDING"


class RecordedApp(QmonApp):
    """Looks once a second how the recording stands; the dashboard goes on whatever becomes of it."""

    def __init__(self, *given: Any, recorder: Recorder, **more: Any) -> None:
        super().__init__(*given, **more)
        self._recorder = recorder
        self.set_reactive(QmonApp.shown, replace(self.shown, recording=RECORDING))

    def tick(self) -> None:
        """A second has passed."""
        why = self._recorder.status.stopped
        if why and self.shown.recording != STOPPED:
            self.shown = replace(self.shown, recording=STOPPED)
            self.notify(clean(f"recording has stopped: {why}"), severity="error", timeout=30, markup=False)
        super().tick()
