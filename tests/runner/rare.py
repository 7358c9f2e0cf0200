"""`make test-rare N=20 ARGS='tests/... -k name'`: repeat tests beside busy processes until a rare failure shows itself."""

import argparse
import os
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path

from tests.runner import processes
from tests.runner.results import VARIABLE
from tests.runner.tiers import TIERS

ROOT = Path(__file__).resolve().parents[2]
_BUSY = "while True: pass"


def main(argv: list[str] | None = None) -> int:
    """Repeat pytest `--times` times; return 1, with the log's path, at the first failure, else 0."""
    parser = argparse.ArgumentParser(prog="make test-rare", description=__doc__)
    parser.add_argument("--times", type=int, default=20)
    parser.add_argument("arguments", nargs="+", help="arguments for pytest, after --")
    options = parser.parse_args(argv)
    folder = ROOT / ".landbridge" / "tests"
    folder.mkdir(parents=True, exist_ok=True)
    log, rows = folder / "rare.log", folder / "rare.jsonl"
    idle_seconds = max(tier.idle_minutes for tier in TIERS) * 60
    with ExitStack() as stack:
        for _ in range(os.cpu_count() or 1):
            busy = subprocess.Popen([sys.executable, "-c", _BUSY])
            stack.callback(busy.kill)
        for turn in range(1, options.times + 1):
            rows.write_text("")
            with log.open("wb") as file:
                command = [sys.executable, "-m", "pytest", "-q", *options.arguments]
                status = processes.run(
                    command,
                    folder=ROOT,
                    variables={VARIABLE: str(rows)},
                    progress=rows,
                    idle_seconds=idle_seconds,
                    log=file,
                    echo=False,
                )
            if processes.STOP.is_set():
                return 2
            print(
                f"{turn} of {options.times}: {'passed' if status == 0 else f'pytest ended with {status}'}", flush=True
            )
            if status != 0:
                print(f"failed in repetition {turn}; log: {log}")
                return 1
    return 0


if __name__ == "__main__":
    os.chdir(ROOT)
    processes.stop_on_signals()
    try:
        code = main()
    finally:
        processes.end_descendants()
    sys.exit(code)
