"""Measure the commands people wait for, how `check` grows, and ParallelCluster beside it: `python -m bench`."""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from bench import growth, parallelcluster
from bench.measure import Contender, Failed, Figures, take_turns

ROOT = Path(__file__).resolve().parent.parent
LAST = ROOT / ".landbridge" / "bench.json"
BASELINE = "python"
# Limits of `landbridge check`, up to ParallelCluster's largest cluster.
SECONDS, MIB = 0.5, 100
PROMISED = ("check, example", growth.name(50))
# And of the whole graph of 10 pools of 5 types each.
GRAPH, GRAPH_SECONDS = "record the graph of 50 pools", 3.0


def commands(landbridge: str, folder: Path) -> list[Contender]:
    """The commands; the first is the floor that everything else stands on."""
    python = sys.executable
    uncompiled = {"PYTHONDONTWRITEBYTECODE": "1", "PYTHONPYCACHEPREFIX": str(folder / "no-bytecode")}
    check = (landbridge, "check", "-s", "example")
    return [
        Contender(BASELINE, (python, "-c", "pass")),
        Contender("landbridge --help", (landbridge, "--help")),
        Contender("check, sandbox", (landbridge, "check", "-s", "sandbox")),
        Contender("check, example", check),
        Contender("check, example, no bytecode", check, uncompiled),
        Contender("show --expanded, example", (landbridge, "show", "-s", "example", "--expanded")),
        Contender("landbridge-resume, start only", (python, "-c", "import landbridge.burst.hooks.programs")),
        Contender("record the sandbox's graph", (python, "-m", "bench.graph", "sandbox")),
        Contender(GRAPH, (python, "-m", "bench.graph", str(growth.file(folder, 50)))),
    ]


def show(figures: dict[str, Figures], before: dict[str, dict[str, float]]) -> None:
    """One row each, with its ratio to the last run kept."""
    floor = figures[BASELINE].median
    print(
        f"{'':30} {'median s':>9} {'min':>7} {'max':>7} {'x python':>9} {'peak MiB':>9} {'x last time':>12} {'x memory':>9}"
    )
    for name, figure in figures.items():
        row = f"{name:30} {figure.median:9.3f} {min(figure.seconds):7.3f} {max(figure.seconds):7.3f} {figure.median / floor:9.1f} {figure.peak_mib:9.1f}"
        if last := before.get(name):
            row += f" {figure.median / last['median']:12.2f} {figure.peak_mib / last['peak_mib']:9.2f}"
        print(row)


def beside(landbridge: str, folder: Path, runs: int) -> dict[str, Figures]:
    """ParallelCluster's YAML to template and our check of as many pools, alternating, and their ratio."""
    peer = parallelcluster.install()
    environment = folder / "Pulumi.pools50.yaml"
    ours = [
        Contender("check, example", (landbridge, "check", "-s", "example")),
        Contender(growth.name(50), (landbridge, "check", "-f", str(environment))),
        Contender("all AWS resources, example", (sys.executable, "-m", "bench.graph", "example")),
        Contender("all AWS resources, 50 pools", (sys.executable, "-m", "bench.graph", str(environment))),
    ]
    with parallelcluster.emulated_aws() as endpoint:
        theirs = parallelcluster.contenders(peer, endpoint, folder)
        figures = take_turns([*ours, *theirs], runs, ROOT)
    print(
        f"\nbeside aws-parallelcluster {parallelcluster.VERSION}, YAML to template without its validators; {runs} runs each"
    )
    print(f"{'':30} {'median s':>9} {'min':>7} {'max':>7} {'peak MiB':>9} {'x faster':>9} {'x smaller':>10}   than")
    for index, one in enumerate(ours):
        mine, other = figures[one.name], theirs[index % 2].name
        row = f"{one.name:30} {mine.median:9.3f} {min(mine.seconds):7.3f} {max(mine.seconds):7.3f} {mine.peak_mib:9.1f}"
        ratios = figures[other].median / mine.median, figures[other].peak_mib / mine.peak_mib
        print(f"{row} {ratios[0]:9.1f} {ratios[1]:10.1f}   {other}")
    for one in theirs:
        got = figures[one.name]
        print(f"{one.name:30} {got.median:9.3f} {min(got.seconds):7.3f} {max(got.seconds):7.3f} {got.peak_mib:9.1f}")
    return figures


def kept_promises(figures: dict[str, Figures]) -> bool:
    """Say whether `check` and recording a graph take less than was promised."""
    good = True
    for name in PROMISED:
        if name in figures:
            figure = figures[name]
            kept = figure.median < SECONDS and figure.peak_mib < MIB
            print(
                f"{name}: {figure.median:.3f} s of {SECONDS}, {figure.peak_mib:.0f} MiB of {MIB}: {'kept' if kept else 'BROKEN'}"
            )
            good = good and kept
    if GRAPH in figures:
        kept = figures[GRAPH].median < GRAPH_SECONDS
        told = "kept" if kept else "BROKEN"
        print(f"{GRAPH}: {figures[GRAPH].median:.2f} s of {GRAPH_SECONDS:g}, {figures[GRAPH].peak_mib:.0f} MiB: {told}")
        good = good and kept
    return good


def main() -> int:
    """0 when everything of ours could be measured and keeps its promise; that the peer cannot be is said, no more."""
    parser = argparse.ArgumentParser(prog="make bench", description=__doc__)
    parser.add_argument("--runs", type=int, default=7)
    parser.add_argument("--peer-runs", type=int, default=5, help="of the comparison; 0 leaves it out")
    parser.add_argument(
        "--only", help="contenders whose name contains this (the baseline is always there); no comparison"
    )
    parser.add_argument("--no-burst", action="store_true", help="leave out how nodes are started (some minutes)")
    parser.add_argument("--keep", action="store_true", help="compare later runs with this one")
    options = parser.parse_args()
    # As any installation leaves it.
    subprocess.run([sys.executable, str(ROOT / "bootstrap" / "compile_start.py")], check=False)
    landbridge = str(Path(sys.executable).parent / "landbridge")
    with tempfile.TemporaryDirectory(prefix="landbridge-bench-") as name:
        folder = Path(name)
        chosen = [*commands(landbridge, folder), *growth.contenders(landbridge, folder)]
        chosen = [one for one in chosen if one.name == BASELINE or not options.only or options.only in one.name]
        try:
            figures = take_turns(chosen, options.runs, ROOT)
        except Failed as error:
            print(f"bench: {error}", file=sys.stderr)
            return 1
        before = json.loads(LAST.read_text()) if LAST.is_file() else {}
        print(f"{options.runs} runs each, in turns; load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores\n")
        show(figures, before)
        if all(growth.name(pools) in figures for pools in growth.SIZES):
            print()
            growth.show(figures, folder)
        if options.peer_runs and not options.only:
            try:
                beside(landbridge, folder, options.peer_runs)
            except (parallelcluster.Unavailable, Failed) as error:
                print(f"\nParallelCluster could NOT be measured here: {error}")
    print()
    good = kept_promises(figures)
    if not options.no_burst and not options.only:
        print("\nfrom a job's nodes asked for until Slurm knows their addresses\n", flush=True)
        # A process of its own: what is measured from a large one seems large.
        words = [] if options.peer_runs else ["--no-peers"]
        good = (
            subprocess.run([sys.executable, "-m", "bench.burst", *words], cwd=ROOT, check=False).returncode == 0
            and good
        )
    if options.keep or not before:
        LAST.parent.mkdir(exist_ok=True)
        LAST.write_text(json.dumps({name: figure.as_dict() for name, figure in figures.items()}, indent=2) + "\n")
        print(f"kept in {LAST.relative_to(ROOT)} for later runs to be compared with")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
