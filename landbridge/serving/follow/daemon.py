"""Daemon of the model gateway's host: a pass every 5 seconds, and the export to model servers.

    python -m landbridge.serving.follow.daemon [--config FILE] [--once]

SIGTERM and SIGINT stop it between two passes. It may be killed at any point. The password of its account in MLflow is in a
file that its Unix account reads.
"""

import argparse
import os
import signal
import sys
import time
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from threading import Thread

from landbridge.host_lock import lock_host
from landbridge.live.models.registry import ModelRegistry
from landbridge.serving.follow.config import FollowConfig, FollowConfigError, load_follow_config
from landbridge.serving.follow.export import ModelExport
from landbridge.serving.follow.passes import FollowPass
from landbridge.serving.follow.waiting_room import open_rooms
from landbridge.systemd import notify

CONFIG = "/etc/landbridge/model-follow.json"
_ENDS = (signal.SIGTERM, signal.SIGINT)
#: MLflow's own is 120 seconds, in which no step of a canary would run.
_MLFLOW_SECONDS = "10"


def main(argv: Sequence[str] | None = None) -> int:
    """Run until a signal stops the daemon; return 1 if it cannot start."""
    parser = argparse.ArgumentParser(prog="landbridge.serving.follow.daemon")
    parser.add_argument("--config", type=Path, default=Path(CONFIG))
    parser.add_argument("--once", action="store_true", help="run one pass and exit")
    options = parser.parse_args(argv)
    signal.pthread_sigmask(signal.SIG_BLOCK, _ENDS)
    try:
        config = load_follow_config(options.config)
        lock = lock_host(config.state / "lock")
        set_account(config)
    except (FollowConfigError, OSError) as error:
        log(f"cannot start: {error}")
        return 1
    with lock:
        one_pass = FollowPass(config, cache(ModelRegistry), time.time, log)
        if options.once:
            one_pass.run()
            return 0
        with ModelExport(config) as export:
            Thread(target=export.serve_forever, daemon=True).start()
            open_rooms(config, log)
            notify("READY=1")
            while True:
                one_pass.run()
                notify("WATCHDOG=1")
                if signal.sigtimedwait(_ENDS, config.interval_seconds) is not None:
                    break
            notify("STOPPING=1")
            export.shutdown()
    return 0


def set_account(config: FollowConfig) -> None:
    """Give MLflow's client the account, its password and the CA. They are in no file of the environment, and in no command line."""
    if config.password is not None:
        os.environ["MLFLOW_TRACKING_USERNAME"] = config.account
        os.environ["MLFLOW_TRACKING_PASSWORD"] = config.password.read_text().strip()
    os.environ.setdefault("MLFLOW_HTTP_REQUEST_TIMEOUT", _MLFLOW_SECONDS)
    if config.authority is not None and any(each.registry.startswith("https:") for each in config.services):
        os.environ["MLFLOW_TRACKING_SERVER_CERT_PATH"] = str(config.authority)


def log(text: str) -> None:
    """Write a line to the service's log: standard error, which systemd keeps."""
    print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
