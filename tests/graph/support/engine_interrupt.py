"""Kill of the engine in the middle of an `up`, while calls are in progress in AWS."""

import os
import signal
import threading
import time
from collections.abc import Callable, Iterable
from pathlib import Path

import boto3

from landbridge.aws_api.client import AwsClient
from landbridge.environment import Environment
from landbridge.live.recovery import recover
from landbridge.realise import pulumi
from landbridge.realise.settle import Settled
from sandbox.aws_emulator.process import EmulatorProcess

#: Longer than any test: the end of the engine ends a held call, or the reset after it. A call that was answered earlier,
#: on a busy machine, would be repeated by the engine or known to it.
HELD_SECONDS = 3600.0
LIMIT_SECONDS = 600.0


def kill_during(
    cloud: EmulatorProcess,
    environment: Environment,
    file: Path,
    actions: Iterable[str],
    *,
    done: bool,
    later: Iterable[str] = (),
    operation: str = "up",
) -> None:
    """Run `up` (or another operation), and kill the engine while AWS holds the answers of all these actions.

    AWS has completed them if `done`, else it has not. It completes none of the `later` ones, which may be in progress too.
    """
    names, undone = tuple(actions), {"hold": HELD_SECONDS, "code": "ServiceUnavailable", "status": 503}
    fault = {"hold": HELD_SECONDS, "after": True} if done else undone
    cloud.control(reset=True, faults=dict.fromkeys(later, undone) | dict.fromkeys(names, fault))
    failed: list[Exception] = []

    def run() -> None:
        try:
            getattr(pulumi, operation)(environment, file)
        except pulumi.PulumiFailed as error:
            failed.append(error)

    before = _engines()
    thread = threading.Thread(target=run)
    thread.start()
    try:
        _until(lambda: set(names) - set(cloud.control()["held"]), thread, failed)
        killed = _engines() - before
        assert killed, "no engine ran"
        for pid in killed:
            os.kill(pid, signal.SIGKILL)
    finally:
        thread.join(LIMIT_SECONDS)
    assert failed and not thread.is_alive()
    # The plugins notice within two seconds that they are alone.
    cloud.control(reset=True)


def settle(cloud: EmulatorProcess, environment: Environment, file: Path, *, wait: float = 1.0) -> Settled:
    """Recover resources as `landbridge up` does first."""

    def connect(region: str | None) -> AwsClient:
        session = boto3.session.Session(aws_access_key_id="t", aws_secret_access_key="t")
        return AwsClient(region or environment.region, cloud.endpoint, session)

    return pulumi.settle(environment, file, lambda begun, known: recover(connect, begun, known), wait=wait)


def _engines() -> set[int]:
    """Return the process ids of engines below this process."""
    pids = set[int]()
    for folder in Path("/proc").iterdir():
        if not folder.name.isdigit():
            continue
        try:
            words = (folder / "cmdline").read_bytes().split(b"\0")
            parent = int((folder / "stat").read_text().rsplit(")", 1)[1].split()[1])
        except (OSError, IndexError, ValueError):
            continue
        if parent == os.getpid() and words[0].endswith(b"pulumi") and {b"up", b"destroy"} & set(words):
            pids.add(int(folder.name))
    return pids


def _until(missing: Callable[[], set[str]], thread: threading.Thread, failed: list[Exception]) -> None:
    deadline = time.monotonic() + LIMIT_SECONDS
    while names := missing():
        assert thread.is_alive(), f"the update ended before the calls during which it was to be killed: {failed}"
        assert time.monotonic() < deadline, f"the engine never made the calls {names}"
        time.sleep(0.05)
