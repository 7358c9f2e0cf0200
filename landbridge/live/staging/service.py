"""Service of the mover: a cycle every ten seconds, and at once after a copy. A thread of its own copies results, so that no held
job waits for them; both share the bandwidth limit.

    python -m landbridge.live.staging.service [--config FILE] [--once]

It may be killed at any point. SIGTERM ends it; the copy that runs is continued after the next start.
"""

import argparse
import sys
import threading
import time
import traceback
from collections.abc import Callable, Sequence
from pathlib import Path

from landbridge.live.staging.class_buckets import ClassBuckets
from landbridge.live.staging.config import MoverConfigError, load_mover_config
from landbridge.live.staging.mover import Mover
from landbridge.live.staging.results import ResultsMover

CONFIG = "/etc/landbridge/mover.json"
INTERVAL_SECONDS = 10.0


def main(argv: Sequence[str] | None = None) -> int:
    """Run until a signal ends the process; return 1 if the configuration cannot be used, or if a thread has ended."""
    parser = argparse.ArgumentParser(prog="landbridge.live.staging.service")
    parser.add_argument("--config", type=Path, default=Path(CONFIG))
    parser.add_argument("--once", action="store_true", help="copy until nothing is requested, and exit")
    options = parser.parse_args(argv)
    try:
        config = load_mover_config(options.config)
    except MoverConfigError as error:
        _log(str(error))
        return 1
    buckets = ClassBuckets(config)
    mover, results = Mover(config, _log, buckets), ResultsMover(config, buckets, _log)
    if options.once:
        while mover.cycle() or results.cycle():
            pass
        return 0
    threads = [threading.Thread(target=_repeat, args=(each.cycle,), daemon=True) for each in (mover, results)]
    for thread in threads:
        thread.start()
    while all(thread.is_alive() for thread in threads):
        threads[0].join(1.0)
    return 1


def _repeat(cycle: Callable[[], bool]) -> None:
    while True:
        try:
            is_busy = cycle()
        except Exception:  # noqa: BLE001 - the other thread goes on, and this one tries again
            _log(traceback.format_exc())
            is_busy = False
        if not is_busy:
            time.sleep(INTERVAL_SECONDS)


def _log(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
