"""Signals that ask a job to stop: SIGTERM of Slurm, and SIGUSR1 (`sbatch --signal`), also before a spot instance ends."""

import os
import select
import signal
from collections.abc import Sequence
from types import FrameType, TracebackType
from typing import Any


class StopSignals:
    """Handlers that only note the signal. The training loop saves after its step, where the state is consistent.

    Use it in the main thread: `with StopSignals() as stop:`. The former handlers return at the end. The handler writes to
    a pipe and takes no lock, so that it cannot wait for the code that it interrupts.
    """

    def __init__(self, signals: Sequence[signal.Signals] = (signal.SIGTERM, signal.SIGUSR1)) -> None:
        self._signals = signals
        self._former: dict[signal.Signals, Any] = {}
        self._read_end, self._write_end = os.pipe()
        os.set_blocking(self._write_end, False)
        self.received: signal.Signals | None = None

    @property
    def requested(self) -> bool:
        """Return true after a signal."""
        return self.received is not None

    def wait(self, seconds: float) -> bool:
        """Wait for a signal for at most this time; true if one has arrived."""
        return bool(select.select([self._read_end], [], [], seconds)[0])

    def __enter__(self) -> "StopSignals":
        for number in self._signals:
            self._former[number] = signal.signal(number, self._note)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for number, handler in self._former.items():
            signal.signal(number, signal.SIG_DFL if handler is None else handler)
        os.close(self._read_end)
        os.close(self._write_end)

    def _note(self, number: int, _: FrameType | None) -> None:
        if self.received is None:
            self.received = signal.Signals(number)
            os.write(self._write_end, b"!")
