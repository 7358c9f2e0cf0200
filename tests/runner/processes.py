"""Child process of a tier: started, watched for progress, and ended with all that it has started."""

import contextlib
import ctypes
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import IO

_PR_SET_PDEATHSIG, _PR_SET_CHILD_SUBREAPER = 1, 36
_POLL_SECONDS = 0.2
#: A look through /proc takes milliseconds of a processor, and a zombie takes only a process id.
_REAP_SECONDS = 15.0
#: Time for fixtures to take down what they have brought up, after SIGINT.
TEARDOWN_SECONDS = 300.0

#: Set by a signal to this process: every tier ends, and so does the run.
STOP = threading.Event()
_RECEIVED: list[int] = []
#: Child processes that run() has started: their exit status is read there.
_STARTED: set[int] = set()
#: Held by the thread that looks for zombies; each tier has a thread, and one look is enough for all.
_REAPING = threading.Lock()
_REAPED_AT = [0.0]


def stop_on_signals() -> None:
    """Let SIGTERM, SIGINT and SIGHUP end the tiers in order, and adopt processes whose parents have ended."""
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, _stop)
    if sys.platform == "linux":
        ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def _stop(number: int, _: object) -> None:
    _RECEIVED.append(number)
    STOP.set()


def received_signal() -> int | None:
    """Return the first signal that stopped the run; None without one."""
    return _RECEIVED[0] if _RECEIVED else None


def run(
    command: list[str],
    *,
    folder: Path,
    variables: Mapping[str, str],
    progress: Path,
    idle_seconds: float,
    log: IO[bytes],
    echo: bool,
    before_exec: Callable[[], None] = lambda: None,
) -> int | None:
    """Run a command until it ends; return its exit status, or None when `progress` did not grow for `idle_seconds`.

    Its output goes into `log`, and to standard output too with `echo`. A stop by signal, or lack of progress, sends SIGINT
    first, so that fixtures remove their resources, and SIGKILL to its process group after TEARDOWN_SECONDS.
    """
    process = subprocess.Popen(
        command,
        cwd=folder,
        env={**os.environ, **variables},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
        preexec_fn=lambda: _prepare(before_exec),
    )
    _STARTED.add(process.pid)
    assert process.stdout is not None
    # A process that outlives pytest can hold the pipe open. The copier has its own descriptor of the log: the caller closes
    # `log` when this function ends.
    own_log = os.fdopen(os.dup(log.fileno()), "wb", buffering=0)
    copier = threading.Thread(target=_copy, args=(process.stdout, own_log, echo), daemon=True)
    copier.start()
    try:
        return _watched(process, progress, idle_seconds)
    finally:
        copier.join(5)


def _watched(process: "subprocess.Popen[bytes]", progress: Path, idle_seconds: float) -> int | None:
    size, since = -1, time.monotonic()
    while not STOP.is_set():
        with contextlib.suppress(subprocess.TimeoutExpired):
            return process.wait(_POLL_SECONDS)
        _reap_adopted()
        if progress.stat().st_size != size:
            size, since = progress.stat().st_size, time.monotonic()
        elif time.monotonic() - since > idle_seconds:
            break
    process.send_signal(signal.SIGINT)
    try:
        process.wait(TEARDOWN_SECONDS)
    except subprocess.TimeoutExpired:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    return None


def _prepare(before_exec: Callable[[], None]) -> None:
    # A process in the background of a shell may ignore SIGINT, and would pass that on.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    # Killed without a chance to handle it, the runner still ends pytest.
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGINT, 0, 0, 0)
    before_exec()


def _copy(source: IO[bytes], log: IO[bytes], echo: bool) -> None:
    with source, log:
        while chunk := os.read(source.fileno(), 65536):
            log.write(chunk)
            if echo:
                sys.stdout.write(chunk.decode(errors="replace"))
                sys.stdout.flush()


def descendants() -> list[int]:
    """Return the ids of all processes below this one, deepest last."""
    children: dict[int, list[int]] = {}
    for pid, parent, _ in _processes():
        children.setdefault(parent, []).append(pid)
    listed, queue = [], [os.getpid()]
    while queue:
        below = children.get(queue.pop(0), [])
        listed += below
        queue += below
    return listed


def _reap_adopted() -> None:
    # A process whose parent has ended becomes a child of this one, and is a zombie until its exit status is read.
    with _REAPING:
        if time.monotonic() - _REAPED_AT[0] < _REAP_SECONDS:
            return
        _REAPED_AT[0] = time.monotonic()
    for pid, parent, state in _processes():
        if parent == os.getpid() and state == "Z" and pid not in _STARTED:
            with contextlib.suppress(ChildProcessError):
                os.waitpid(pid, os.WNOHANG)


def _processes() -> list[tuple[int, int, str]]:
    """Return id, parent's id and state of each process of the machine."""
    listed = []
    # Not Path.glob: it raises ProcessLookupError when a process ends between the listing and the look at its file.
    for name in filter(str.isdecimal, os.listdir("/proc")):
        with contextlib.suppress(OSError):
            fields = Path(f"/proc/{name}/stat").read_text().rpartition(")")[2].split()
            listed.append((int(name), int(fields[1]), fields[0]))
    return listed


def end_descendants(grace_seconds: float = 10.0) -> list[int]:
    """End all processes below this one: SIGTERM, then SIGKILL. Return the ids of the processes that existed."""
    seen = descendants()
    for number in (signal.SIGTERM, signal.SIGKILL):
        for pid in descendants():
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, number)
        deadline = time.monotonic() + grace_seconds
        while time.monotonic() < deadline and _reap_and_list():
            time.sleep(_POLL_SECONDS)
    return seen


def _reap_and_list() -> list[int]:
    with contextlib.suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    return descendants()
