"""Runner of Landbridge's commands in a step of the demonstration, as an operator runs them in a terminal."""

import json
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from sandbox.demo.report import DemoError

_LAST_LINES = 25


def program(name: str) -> str:
    """Return the path of a program in this project's virtual environment."""
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
    ) as process:
        watchdog = _Watchdog(process, timeout)
        for line in process.stdout or ():
            lines.append(line)
            if on_line:
                on_line(line.rstrip())
        code = process.wait()
        watchdog.end()
    if log:
        log.parent.mkdir(parents=True, exist_ok=True)
        log.write_text("".join(lines))
    if code != 0:
        output = "".join(lines[-_LAST_LINES:]).rstrip()
        time_limit_note = f" (terminated after {timeout:.0f} s)" if watchdog.fired else ""
        log_hint = f"the whole output: {log}" if log else ""
        raise DemoError(f"`{' '.join(words[:6])}` ended with {code}{time_limit_note}:\n{output}", log_hint)
    return "".join(lines)


def json_command(words: Sequence[str], **options: Any) -> Any:
    """Run a command whose whole output is JSON; return the parsed output."""
    return json.loads(command(words, **options))


class _Watchdog:
    """Timer that terminates a command after its time limit."""

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
