"""Service of the mover: a cycle every ten seconds, and at once after a copy.

    python -m landbridge.live.staging.service [--config FILE] [--once]

It may be killed at any point. SIGTERM ends it; the copy that runs is continued after the next start.
"""

import argparse
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from landbridge.live.staging.config import MoverConfigError, load_mover_config
from landbridge.live.staging.mover import Mover

CONFIG = "/etc/landbridge/mover.json"
INTERVAL_SECONDS = 10.0


def main(argv: Sequence[str] | None = None) -> int:
    """Run until a signal ends the process; return 1 if the configuration cannot be used."""
    parser = argparse.ArgumentParser(prog="landbridge.live.staging.service")
    parser.add_argument("--config", type=Path, default=Path(CONFIG))
    parser.add_argument("--once", action="store_true", help="copy until nothing is requested, and exit")
    options = parser.parse_args(argv)
    try:
        mover = Mover(load_mover_config(options.config), _log)
    except MoverConfigError as error:
        _log(str(error))
        return 1
    while True:
        has_copied = mover.cycle()
        if not has_copied:
            if options.once:
                return 0
            time.sleep(INTERVAL_SECONDS)


def _log(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
