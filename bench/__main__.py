"""Measure the commands people wait for, and compare with the last run kept: `python -m bench [--runs N] [--keep]`."""

import argparse
import json
import os
import sys
from pathlib import Path

from bench.measure import Contender, Failed, Figures, take_turns

ROOT = Path(__file__).resolve().parent.parent
LAST = ROOT / ".landbridge" / "bench.json"
BASELINE = "python"


def contenders() -> list[Contender]:
    """What is measured; the first is the floor that everything else stands on."""
    python, landbridge = sys.executable, str(Path(sys.executable).parent / "landbridge")
    return [
        Contender(BASELINE, (python, "-c", "pass")),
        Contender("landbridge --help", (landbridge, "--help")),
        Contender("landbridge check -s sandbox", (landbridge, "check", "-s", "sandbox")),
        Contender("landbridge check -s example", (landbridge, "check", "-s", "example")),
        Contender("landbridge show --expanded", (landbridge, "show", "-s", "example", "--expanded")),
        Contender("burst shim, start only", (python, "-c", "import landbridge.burst.shims")),
        Contender("record the sandbox's graph", (python, "-m", "bench.graph", "sandbox")),
    ]


def show(figures: dict[str, Figures], before: dict[str, dict[str, float]]) -> None:
    """One row each, with its ratio to the last run kept."""
    floor = figures[BASELINE].median
    print(
        f"{'':30} {'median s':>9} {'min':>7} {'max':>7} {'x python':>9} {'peak MiB':>9} {'x last time':>12} {'x memory':>9}"
    )
    for name, one in figures.items():
        row = f"{name:30} {one.median:9.3f} {min(one.seconds):7.3f} {max(one.seconds):7.3f} {one.median / floor:9.1f} {one.peak_mib:9.1f}"
        if last := before.get(name):
            row += f" {one.median / last['median']:12.2f} {one.peak_mib / last['peak_mib']:9.2f}"
        print(row)


def main() -> int:
    """0 when everything could be measured."""
    parser = argparse.ArgumentParser(prog="make bench", description=__doc__)
    parser.add_argument("--runs", type=int, default=7)
    parser.add_argument("--only", help="contenders whose name contains this (the baseline is always there)")
    parser.add_argument("--keep", action="store_true", help="compare later runs with this one")
    options = parser.parse_args()
    chosen = [one for one in contenders() if one.name == BASELINE or not options.only or options.only in one.name]
    try:
        figures = take_turns(chosen, options.runs, ROOT)
    except Failed as error:
        print(f"bench: {error}", file=sys.stderr)
        return 1
    before = json.loads(LAST.read_text()) if LAST.is_file() else {}
    load = os.getloadavg()[0]
    print(f"{options.runs} runs each, in turns; load {load:.1f} on {os.cpu_count()} cores\n")
    show(figures, before)
    if options.keep or not before:
        LAST.parent.mkdir(exist_ok=True)
        LAST.write_text(json.dumps({name: one.as_dict() for name, one in figures.items()}, indent=2) + "\n")
        print(f"\nkept in {LAST.relative_to(ROOT)} for later runs to be compared with")
    return 0


if __name__ == "__main__":
    sys.exit(main())
