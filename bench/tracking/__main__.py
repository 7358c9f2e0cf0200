"""Log calls of many runs at the same time to an MLflow server with PostgreSQL: `python -m bench.tracking [--runs 300]`.

Each run has a connection of its own and sends a batch of 10 metrics each `--interval` seconds, as a training job does. The time
of a call is from its due time to its answer, so that a server that is behind shows it. Measured without and with MLflow's cache of
passwords (`auth_cache_ttl_seconds`).
"""

import argparse
import base64
import http.client
import json
import os
import signal
import statistics
import sys
import tempfile
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from bench.tracking.server import PASSWORD, Unavailable, mlflow, packages, postgresql

METRICS, USERS = 10, tuple(f"user{number}" for number in range(20))
API = "/api/2.0/mlflow"
_TIMEOUT = 120.0


@dataclass
class Calls:
    """Times of answered log calls in seconds, and errors of all calls."""

    seconds: list[float] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)

    def show(self, name: str, length: float, processor_seconds: float) -> None:
        """Print a row with rate, p50, p95, the maximum, MLflow's processor time of a call, and the failures."""
        if not self.seconds:
            print(f"{name:24} no call succeeded: {self.errors[:1]}")
            return
        centiles = statistics.quantiles(self.seconds, n=100)
        rate = len(self.seconds) / length
        print(
            f"{name:24} {len(self.seconds):7} {rate:8.1f} {statistics.median(self.seconds) * 1000:8.0f}"
            f" {centiles[94] * 1000:8.0f} {max(self.seconds) * 1000:8.0f} {processor_seconds / len(self.seconds) * 1000:8.0f} {len(self.errors):7}",
            flush=True,
        )
        for text in sorted(set(self.errors))[:3]:
            print(f"    {text}")


class Client:
    """Account at a server, on one connection that is opened again after an error."""

    def __init__(self, uri: str, user: str) -> None:
        parts = urlsplit(uri)
        self._connection = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=_TIMEOUT)
        login = base64.b64encode(f"{user}:{PASSWORD}".encode()).decode()
        self._headers = {"Authorization": f"Basic {login}", "Content-Type": "application/json"}

    def post(self, path: str, body: Any) -> Any:
        """Send a request, again if the server has closed the idle connection; return the answer. Raises OSError for an error."""
        try:
            return self._post(path, body)
        except ConnectionError:
            return self._post(path, body)

    def _post(self, path: str, body: Any) -> Any:
        try:
            self._connection.request("POST", path, json.dumps(body), self._headers)
            answer = self._connection.getresponse()
            text = answer.read()
        except http.client.HTTPException as error:
            self._connection.close()
            # RemoteDisconnected is a ConnectionError too.
            if isinstance(error, ConnectionError):
                raise
            raise OSError(type(error).__name__) from None
        except OSError:
            self._connection.close()
            raise
        if answer.status != 200:
            raise OSError(f"{answer.status} {text[:100]!r}")
        return json.loads(text)


def train(uri: str, number: int, experiment: str, start: float, options: argparse.Namespace, calls: Calls) -> None:
    """Create a run and log batches until the end of the measurement."""
    client = Client(uri, USERS[number % len(USERS)])
    due = start + options.interval * number / options.runs
    step, end, run = 0, start + options.seconds, ""
    while due < end:
        time.sleep(max(0.0, due - time.monotonic()))
        now = int(time.time() * 1000)
        try:
            if not run:
                run = client.post(f"{API}/runs/create", {"experiment_id": experiment})["run"]["info"]["run_id"]
            metrics = [{"key": f"m{each}", "value": step, "timestamp": now, "step": step} for each in range(METRICS)]
            client.post(f"{API}/runs/log-batch", {"run_id": run, "metrics": metrics})
            calls.seconds.append(time.monotonic() - due)
        except OSError as error:
            calls.errors.append(str(error))
        step += 1
        due += options.interval


def measure(folder: Path, options: argparse.Namespace, cache_seconds: int) -> None:
    """Start the servers, let all runs log, and print a row."""
    name = "passwords kept for 60 s" if cache_seconds else "each password checked"
    for part in ("database", "server"):
        (folder / part).mkdir()
    (folder / "server/packages").symlink_to(folder.parent / "packages")
    with (
        postgresql(folder / "database") as database,
        mlflow(folder / "server", database, options.workers, cache_seconds, USERS) as server,
    ):
        uri = server.uri
        admin = Client(uri, "admin")
        experiments = []
        for user in USERS:
            admin.post(f"{API}/users/create", {"username": user, "password": PASSWORD})
            created = Client(uri, user).post(f"{API}/experiments/create", {"name": f"of-{user}"})
            experiments.append(created["experiment_id"])
        calls, before, start = Calls(), server.processor_seconds(), time.monotonic() + 1
        threads = [
            threading.Thread(target=train, args=(uri, number, experiments[number % len(USERS)], start, options, calls))
            for number in range(options.runs)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        calls.show(name, time.monotonic() - start, server.processor_seconds() - before)


def main() -> int:
    """Print the measurements; return 1 if a program is missing."""
    parser = argparse.ArgumentParser(prog="python -m bench.tracking", description=__doc__)
    parser.add_argument("--runs", type=int, default=300, help="runs at the same time")
    parser.add_argument("--interval", type=float, default=10.0, help="seconds between two calls of a run")
    parser.add_argument("--seconds", type=float, default=60.0, help="length of the measurement")
    parser.add_argument("--workers", type=int, default=2, help="processes of the server")
    parser.add_argument(
        "--cache", type=int, choices=(0, 60), help="measure only this time for which passwords are kept"
    )
    options = parser.parse_args()
    # The servers end with the program.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    print(
        f"{options.runs} runs, one call of {METRICS} metrics each {options.interval:g} s; {options.workers} workers;",
        end=" ",
    )
    print(f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores\n")
    print(f"{'':24} {'calls':>7} {'calls/s':>8} {'p50 ms':>8} {'p95 ms':>8} {'max ms':>8} {'cpu ms':>8} {'failed':>7}")
    with tempfile.TemporaryDirectory(prefix="landbridge-bench-") as name:
        root = Path(name)
        root.chmod(0o755)
        try:
            packages(root / "packages")
            for seconds in (0, 60) if options.cache is None else (options.cache,):
                folder = root / f"cache-{seconds}"
                folder.mkdir()
                measure(folder, options, seconds)
        except Unavailable as error:
            print(f"bench: {error}", file=sys.stderr)
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
