"""Measured processes: programs that run to their end, and one that runs in the background."""

import contextlib
import os
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from bench.measure import Failed

POLL_SECONDS = 0.005
TICKS = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True)
class ProcessResult:
    """Result of a program: seconds, peak memory, processor time with children, and output."""

    seconds: float
    mib: float
    cpu: float
    output: str = ""

    @property
    def mb(self) -> float:
        """Return the peak memory in MB."""
        return self.mib * 2**20 / 10**6

    def then(self, other: "ProcessResult") -> "ProcessResult":
        """Return the result of both programs, one after the other."""
        return ProcessResult(
            self.seconds + other.seconds, max(self.mib, other.mib), self.cpu + other.cpu, self.output + other.output
        )


def environment(environ: Mapping[str, str]) -> dict[str, str]:
    """Return this process's environment variables and `environ`; bytecode is written, as in an installation."""
    inherited = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return {**inherited, **environ}


def run(command: Sequence[str], environ: Mapping[str, str]) -> ProcessResult:
    """Run a program to its end and measure it. Raises Failed."""
    with tempfile.TemporaryFile() as output:
        began = time.perf_counter()
        process = subprocess.Popen(
            command, env=environment(environ), stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT
        )
        with watched(process.pid) as peak:
            _, status, usage = os.wait4(process.pid, 0)
            seconds = time.perf_counter() - began
        process.returncode = os.waitstatus_to_exitcode(status)
        output.seek(0)
        text = output.read().decode(errors="replace")
    if process.returncode != 0:
        raise Failed(f"{' '.join(command)[:200]} ended with {process.returncode}: {text[-800:]}")
    return ProcessResult(seconds, peak[0], usage.ru_utime + usage.ru_stime, text)


@contextmanager
def watched(pid: int) -> Iterator[list[float]]:
    """Yield a list that holds the peak memory of a process (MiB). wait4's value starts with the parent's memory."""
    peak, ended = [0.0], threading.Event()

    def sample() -> None:
        while not ended.wait(POLL_SECONDS):
            with contextlib.suppress(OSError, StopIteration):
                peak[0] = memory(pid, "VmHWM")

    watcher = threading.Thread(target=sample, daemon=True)
    watcher.start()
    try:
        yield peak
    finally:
        ended.set()
        watcher.join()


def memory(pid: int, field: str) -> float:
    """Return a field of /proc/PID/status in MiB."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(field)) / 1024


class Process:
    """Program that runs for the duration of the block."""

    def __init__(self, command: Sequence[str], environ: Mapping[str, str]) -> None:
        self._command, self._environ = command, environ

    def __enter__(self) -> "Process":
        self._log = tempfile.NamedTemporaryFile(suffix=".log")
        self._process = subprocess.Popen(
            self._command,
            env=environment(self._environ),
            stdin=subprocess.DEVNULL,
            stdout=self._log,
            stderr=subprocess.STDOUT,
        )
        self._proc = Path("/proc") / str(self._process.pid)
        return self

    def __exit__(self, *_: object) -> None:
        self._process.terminate()
        self._process.wait(timeout=30)
        self._log.close()

    def wait_for(self, word: str, seconds: float = 30) -> None:
        """Wait until the program has printed `word`. Raises Failed."""
        deadline = time.monotonic() + seconds
        while word not in self.output:
            if self._process.poll() is not None or time.monotonic() > deadline:
                raise Failed(f"{' '.join(self._command)} did not print {word!r}: {self.output[-800:]}")
            time.sleep(0.02)

    @property
    def output(self) -> str:
        return Path(self._log.name).read_text(errors="replace")

    @property
    def cpu(self) -> float:
        """Return its processor seconds, including those of its child processes that have ended."""
        fields = (self._proc / "stat").read_text().rpartition(")")[2].split()
        return sum(int(field) for field in fields[11:15]) / TICKS

    @property
    def own_cpu(self) -> float:
        """Return its processor seconds without those of child processes."""
        fields = (self._proc / "stat").read_text().rpartition(")")[2].split()
        return sum(int(field) for field in fields[11:13]) / TICKS

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def peak_mib(self) -> float:
        return memory(self._process.pid, "VmHWM")

    @property
    def mib(self) -> float:
        return memory(self._process.pid, "VmRSS")
