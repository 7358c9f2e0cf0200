"""Emulated AWS as a child process, for tests and for the embedded level."""

import json
import os
import subprocess
import sys
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class EmulatorProcess:
    """Process of a running emulated AWS."""

    endpoint: str
    imds: str | None
    state: Path
    pid: int

    @property
    def operator_credentials(self) -> Path:
        """Return the path of the shared-credentials file (profile default) for the operator of the stack."""
        return self.state / "credentials" / "operator"

    @property
    def launch_credentials(self) -> Path:
        """Return the path of the shared-credentials file (profile default) for the burst controller."""
        return self.state / "credentials" / "launch"

    def environment(self, credentials: Path | None = None) -> dict[str, str]:
        """Return the environment variables that direct every AWS SDK to this endpoint."""
        return {
            "AWS_ENDPOINT_URL": self.endpoint,
            "AWS_SHARED_CREDENTIALS_FILE": str(credentials or self.operator_credentials),
            "AWS_EC2_METADATA_DISABLED": "true",
        }

    def control(self, **settings: Any) -> dict[str, Any]:
        """POST settings to /_ctl (none: only read); return counters and instances."""
        data = json.dumps(settings).encode()
        with urllib.request.urlopen(f"{self.endpoint}/_ctl", data=data, timeout=10) as answer:
            return dict(json.load(answer))


@contextmanager
def running(
    state: Path, *options: str, listen: str = "127.0.0.1:0", log: Path | None = None
) -> Iterator[EmulatorProcess]:
    """Run `python -m sandbox.aws_emulator` on a free loopback port; stop it and all its machines at the end.

    With the option `--with-parent` it also stops when this process is killed.
    """
    state.mkdir(parents=True, exist_ok=True)
    process = start(state, ["--listen", listen, *options], log=log)
    try:
        yield wait_ready(process, state)
    finally:
        process.terminate()
        try:
            process.wait(timeout=30)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        if process.stdout:
            process.stdout.close()


def start(state: Path, options: Sequence[str], log: Path | None = None) -> "subprocess.Popen[str]":
    """Start the process; its first line on stdout reports readiness. Errors go to `log`, else to <state>/cloud.log."""
    state.mkdir(parents=True, exist_ok=True)
    with (log or state / "cloud.log").open("ab") as errors:
        return subprocess.Popen(
            [sys.executable, "-m", "sandbox.aws_emulator", "--state", str(state), *options],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=errors,
            env={**os.environ, "PYTHONUNBUFFERED": "1"},
            text=True,
            start_new_session=True,  # Ctrl-C stops the parent process, which then stops this one
        )


def wait_ready(process: "subprocess.Popen[str]", state: Path) -> EmulatorProcess:
    """Wait until the process listens; raise RuntimeError with the end of its log if it ended."""
    line = process.stdout.readline() if process.stdout else ""
    if not line:
        process.wait()
        log = state / "cloud.log"
        log_tail = log.read_text(errors="replace")[-2000:] if log.exists() else ""
        raise RuntimeError(f"the emulated AWS ended with {process.returncode}: {log_tail.strip()}")
    ready = json.loads(line)
    return EmulatorProcess(ready["endpoints"][0], ready["imds"], state, ready["pid"])
