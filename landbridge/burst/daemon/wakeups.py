"""Wake-ups of the daemon: the socket of Slurm's programs, signals, and the server of PrologSlurmctld."""

import contextlib
import os
import select
import signal
import socket
from pathlib import Path

from landbridge.burst.daemon.log import log


class Wakeups:
    """Wait between two passes. Signals and `wake` end it through a pair of sockets."""

    def __init__(self) -> None:
        self._out, self._in = socket.socketpair()
        self._out.setblocking(False)
        self._orders: socket.socket | None = None

    def watch_signals(self) -> None:
        """End the wait at each signal that has a handler."""
        signal.set_wakeup_fd(self._out.fileno(), warn_on_full_buffer=False)

    def listen(self, path: Path, interval: float) -> None:
        """Open the socket on which the programs report new orders. Without it the daemon sees orders at its next
        interval."""
        if self._orders is not None:
            self._orders.close()
        self._orders = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.unlink(missing_ok=True)
            self._orders.bind(str(path))
            os.chmod(path, 0o600)
        except OSError as error:
            log(f"{path}: {error.strerror}: orders are seen every {interval:.0f} s only")
        self._orders.setblocking(False)

    def wake(self) -> None:
        """End the wait; any thread may call this."""
        with contextlib.suppress(OSError):  # full: the daemon is awake
            self._out.send(b"1")

    def wait(self, seconds: float) -> None:
        """Wait until a wake-up, at most `seconds`."""
        sources = [source for source in (self._orders, self._in) if source is not None]
        ready, _, _ = select.select(sources, [], [], seconds)
        for readable in ready:
            _drain(readable)


def _drain(source: socket.socket) -> None:
    source.setblocking(False)
    try:
        while source.recv(4096):
            pass
    except OSError:
        return
