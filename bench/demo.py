"""Time of the demonstration's steps, from the reports that `make demo` leaves: `python -m bench.demo [REPORT.json ...]`."""

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path

from landbridge.paths import state_dir


def reports() -> list[Path]:
    """Return the reports of this machine's last demonstrations, one for each stack."""
    return sorted(state_dir("sandbox").parent.glob("*/demo.json"))


def show(path: Path) -> None:
    """Print the steps of a report, with their share of the whole."""
    report = json.loads(path.read_text())
    print(f"{report['title']}: {report['level']} level, {report['seconds']:.0f} s in all ({path})")
    for step in report["steps"]:
        share = step["seconds"] / report["seconds"] if report["seconds"] else 0.0
        print(f"{step['seconds']:8.1f} s {share:5.0%}  {step['name']}")


def main(argv: Sequence[str] | None = None) -> int:
    """Return 0 also if there is no report: a demonstration takes minutes and is not started here."""
    parser = argparse.ArgumentParser(prog="python -m bench.demo", description=__doc__)
    parser.add_argument("reports", nargs="*", type=Path, metavar="REPORT.json")
    paths = parser.parse_args(argv).reports or reports()
    for path in paths:
        show(path)
    if not paths:
        print("no report of a demonstration: `make demo` leaves one")
    return 0


if __name__ == "__main__":
    sys.exit(main())
