"""Run Landbridge's commands in a step of the demonstration, as a user at a terminal does."""

import json
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from sandbox.demo.report import DemoError

_LAST_WORDS = 25


def program(name: str) -> str:
    """The path of a program of this project's own environment."""
    return str(Path(sys.executable).parent / name)


def command(
    words: Sequence[str],
    *,
    env: Mapping[str, str] | None = None,
    cwd: Path | None = None,
    log: Path | None = None,
    timeout: float = 900,
    on_line: Callable[[str], None] | None = None,
) -> str:
    """Run a command and return its output; raise DemoError with its last lines if it fails."""
    lines: list[str] = []
    with subprocess.Popen(
        list(words),
        env=env,
        cwd=cwd,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as running:
        watchdog = _Watchdog(running, timeout)
        for line in running.stdout or ():
            lines.append(line)
            if on_line:
                on_line(line.rstrip())
        code = running.wait()
        watchdog.end()
    if log:
        log.parent.mkdir(parents=True, exist_ok=True)
        log.write_text("".join(lines))
    if code != 0:
        output = "".join(lines[-_LAST_WORDS:]).rstrip()
        late = f" (ended after {timeout:.0f} s)" if watchdog.fired else ""
        where = f"the whole of it: {log}" if log else ""
        raise DemoError(f"`{' '.join(words[:6])}` ended with {code}{late}:\n{output}", where)
    return "".join(lines)


def json_command(words: Sequence[str], **options: Any) -> Any:
    """The same for a command whose whole output is JSON."""
    return json.loads(command(words, **options))


class _Watchdog:
    """Ends a command that outlives its time."""

    def __init__(self, process: "subprocess.Popen[str]", seconds: float) -> None:
        self.fired = False
        self._process = process
        self._timer = threading.Timer(seconds, self._fire)
        self._timer.daemon = True
        self._timer.start()

    def _fire(self) -> None:
        self.fired = True
        self._process.terminate()

    def end(self) -> None:
        self._timer.cancel()
