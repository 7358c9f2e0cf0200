"""Daemon of the service: a pass every 15 seconds.

    python -m landbridge.pipelines.service.daemon [--config FILE] [--once]

SIGTERM and SIGINT stop it between two passes. It may be killed at any point.
"""

import argparse
import select
import signal
import socket
import sys
import traceback
from collections.abc import Sequence
from pathlib import Path

from landbridge.host_lock import lock_host
from landbridge.pipelines.service.config import CONFIG, PipelinesConfigError, load_pipelines_config
from landbridge.pipelines.service.passes import PipelinePass
from landbridge.pipelines.service.shell import HostFolders, HostSlurm
from landbridge.pipelines.service.store import LOCK, RunStore
from landbridge.systemd import notify


def main(argv: Sequence[str] | None = None) -> int:
    """Run until a signal stops the daemon; return 1 if it cannot start."""
    parser = argparse.ArgumentParser(prog="landbridge.pipelines.service.daemon")
    parser.add_argument("--config", type=Path, default=Path(CONFIG))
    parser.add_argument("--once", action="store_true", help="run one pass and exit")
    options = parser.parse_args(argv)
    try:
        config = load_pipelines_config(options.config)
        store = RunStore(config.state)
        lock = lock_host(config.state / LOCK)
    except (PipelinesConfigError, OSError) as error:
        log(f"cannot start: {error}")
        return 1
    with lock:
        one_pass = PipelinePass(config, store, HostFolders(config), HostSlurm(config), log)
        if options.once:
            _run(one_pass)
            return 0
        _loop(one_pass, config.interval_seconds)
    return 0


def log(text: str) -> None:
    """Write a line to the service's log: standard error, which systemd keeps."""
    print(text, file=sys.stderr, flush=True)


def _run(one_pass: PipelinePass) -> None:
    one_pass.run()
    if one_pass.config.metrics is not None:
        one_pass.metrics.write(one_pass.config.metrics, one_pass.clock())


def _loop(one_pass: PipelinePass, interval: float) -> None:
    reading, writing = socket.socketpair()
    writing.setblocking(False)
    signal.set_wakeup_fd(writing.fileno())
    stopping: list[int] = []
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda received, _: stopping.append(received))
    notify("READY=1")
    while not stopping:
        try:
            _run(one_pass)
        except OSError as error:
            log(f"pass not finished: {error}")
        except Exception:  # noqa: BLE001 - other runs need the next pass, which observes again
            log(traceback.format_exc())
        notify("WATCHDOG=1")
        if not stopping:
            select.select([reading], [], [], interval)
    notify("STOPPING=1")


if __name__ == "__main__":
    sys.exit(main())
