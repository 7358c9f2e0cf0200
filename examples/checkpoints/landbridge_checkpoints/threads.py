"""Daemon threads: they never keep a process from ending, and their failures never stop a training step."""

import queue
import threading
from collections.abc import Callable, Sequence


def run_all(calls: Sequence[Callable[[], None]], workers: int) -> None:
    """Run calls in several threads. After a failure no further one begins; the first failure is raised at the end.

    An executor of the standard library has threads that the interpreter waits for at its end.
    """
    waiting: queue.SimpleQueue[Callable[[], None]] = queue.SimpleQueue()
    for call in calls:
        waiting.put(call)
    failures: list[BaseException] = []

    def work() -> None:
        while not failures:
            try:
                call = waiting.get_nowait()
            except queue.Empty:
                return
            try:
                call()
            except BaseException as failure:  # noqa: BLE001 - raised below, in the caller's thread
                failures.append(failure)

    threads = [threading.Thread(target=work, name="checkpoint-block", daemon=True) for _ in range(workers)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failures:
        raise failures[0]


class NotYet(Exception):
    """Call that other processes must precede; it is repeated, and is not a failure."""


class BackgroundCall:
    """Daemon thread for one call at a time; the call keeps its failure to itself."""

    def __init__(self) -> None:
        self._thread: threading.Thread | None = None

    def begin(self, call: Callable[[], None]) -> None:
        """Wait for the call before, and start this one."""
        self.wait(None)
        self._thread = threading.Thread(target=call, name="checkpoint-writer", daemon=True)
        self._thread.start()

    def wait(self, timeout: float | None) -> bool:
        """Wait for the end of the call for at most this time; false if it has not ended."""
        thread = self._thread
        if thread is None or thread is threading.current_thread():
            return True
        thread.join(timeout)
        return not thread.is_alive()


class BackgroundSender:
    """Thread that sends checkpoints, one at a time. Of the waiting ones only the newest is kept.

    A failed one is repeated until it succeeds or a newer one waits.
    """

    def __init__(self, send: Callable[[str], None], say: Callable[[str], None], longest_pause: float = 60.0) -> None:
        self._send, self._say, self._longest_pause = send, say, longest_pause
        self._changed = threading.Condition()
        self._waiting: str | None = None
        self._active: str | None = None
        self.failures = 0
        threading.Thread(target=self._work, name="checkpoint-sender", daemon=True).start()

    def put(self, name: str) -> None:
        """Send a checkpoint as soon as possible."""
        with self._changed:
            if self._waiting is not None:
                self._say(f"checkpoint {self._waiting} is not sent, because {name} is newer")
            self._waiting = name
            self._changed.notify_all()

    def unsent(self) -> frozenset[str]:
        """Return the checkpoints that are being sent or wait."""
        with self._changed:
            return frozenset(name for name in (self._active, self._waiting) if name is not None)

    def drain(self, timeout: float) -> bool:
        """Wait until nothing is left to send; false if the timeout is reached before."""
        with self._changed:
            return self._changed.wait_for(lambda: not (self._active or self._waiting), timeout)

    def _work(self) -> None:
        while True:
            with self._changed:
                self._active = None
                self._changed.notify_all()
                self._changed.wait_for(lambda: self._waiting is not None)
                self._active, self._waiting = self._waiting, None
            self._repeat(str(self._active))

    def _repeat(self, name: str) -> None:
        attempt, waited = 0, 0
        while True:
            try:
                self._send(name)
                if attempt:
                    self._say(f"checkpoint {name} is sent after {attempt} failures")
                return
            except NotYet:
                waited += 1
            except Exception as failure:  # noqa: BLE001 - storage can fail in any way; training goes on
                attempt += 1
                self.failures += 1
                if attempt == 1 or attempt % 10 == 0:
                    self._say(
                        f"checkpoint {name}: {type(failure).__name__}: {failure}; attempt {attempt}, trying again"
                    )
            with self._changed:
                pause = min(
                    2.0 ** min(attempt, 10) / 2 if attempt else 2.0 ** min(waited, 10) / 20, self._longest_pause
                )
                if self._changed.wait_for(lambda: self._waiting is not None, pause):
                    if attempt:
                        self._say(f"checkpoint {name} is given up, because a newer one waits")
                    return
