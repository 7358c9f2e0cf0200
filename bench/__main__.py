"""Benchmark of the commands that users wait for, the growth of `check`, the burst controller, and ParallelCluster:
`python -m bench`. The status is 1 when a limit of bench/limits.yaml is exceeded."""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from bench import demo, growth, parallelcluster
from bench.burst import parts as burst
from bench.commands import BASELINE, ROOT, beside_parallelcluster, commands, show, values
from bench.limits import PEER, read_limits, show_limits
from bench.measure import Failed, take_turns

LAST = ROOT / ".landbridge" / "bench.json"


def _measure_burst(*arguments: str) -> int:
    """Return the exit status of bench.burst, run as a separate process: memory measured from a large one is too large."""
    print(flush=True)
    return subprocess.run([sys.executable, "-m", "bench.burst", *arguments], cwd=ROOT, check=False).returncode


def main() -> int:
    """Return 0 when all commands of ours could be measured and are within their limits.

    A peer that cannot be measured is reported only.
    """
    parser = argparse.ArgumentParser(prog="make bench", description=__doc__)
    parser.add_argument("--runs", type=int, default=7)
    parser.add_argument("--peer-runs", type=int, default=5, help="runs of the comparison; 0: no comparison")
    parser.add_argument(
        "--only", help="measure only commands whose name contains this, and the baseline; no limits and no comparison"
    )
    parser.add_argument(
        "--burst", metavar="PARTS", help="measure only these parts of the burst controller: " + ",".join(burst.PARTS)
    )
    parser.add_argument("--no-burst", action="store_true", help="do not measure the burst controller (some minutes)")
    parser.add_argument("--keep", action="store_true", help="save this run: later runs are compared with it")
    options = parser.parse_args()
    # Bytecode as after any installation.
    subprocess.run([sys.executable, str(ROOT / "bootstrap" / "compile_start.py")], check=False)
    peers = [] if options.peer_runs else ["--no-peers"]
    if options.burst:
        return _measure_burst(*options.burst.split(","), *peers)
    landbridge = str(Path(sys.executable).parent / "landbridge")
    is_good = True
    with tempfile.TemporaryDirectory(prefix="landbridge-bench-") as name:
        folder = Path(name)
        chosen = [
            contender
            for contender in (*commands(landbridge, folder), *growth.contenders(landbridge, folder))
            if contender.name == BASELINE or not options.only or options.only in contender.name
        ]
        try:
            figures = take_turns(chosen, options.runs, ROOT)
        except Failed as error:
            print(f"bench: {error}", file=sys.stderr)
            return 1
        before = json.loads(LAST.read_text()) if LAST.is_file() else {}
        print(f"{options.runs} runs each, in turns; load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores\n")
        show(figures, before)
        if not options.only:
            print()
            growth.show(figures, folder)
            is_good = show_limits(read_limits({"commands"}), values(figures))
        if options.peer_runs and not options.only:
            try:
                compared = beside_parallelcluster(landbridge, folder, options.peer_runs)
                is_good = show_limits(read_limits({PEER}), compared) and is_good
            except (parallelcluster.Unavailable, Failed) as error:
                print(f"\nParallelCluster could NOT be measured here: {error}")
    if not options.no_burst and not options.only:
        is_good = _measure_burst(*peers) == 0 and is_good
    if not options.only:
        print("\nsteps of the last demonstrations\n")
        demo.main([])
    if options.keep or not before:
        LAST.parent.mkdir(exist_ok=True)
        LAST.write_text(json.dumps({name: figure.as_dict() for name, figure in figures.items()}, indent=2) + "\n")
        print(f"saved in {LAST.relative_to(ROOT)}: later runs are compared with it")
    return 0 if is_good else 1


if __name__ == "__main__":
    sys.exit(main())
