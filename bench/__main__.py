"""Benchmark of the commands that users wait for, the growth of `check`, and ParallelCluster: `python -m bench`."""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from bench import growth, parallelcluster, start
from bench.burst import parts as burst
from bench.limits import show_limits
from bench.measure import Contender, Failed, Figures, take_turns

ROOT = Path(__file__).resolve().parent.parent
LAST = ROOT / ".landbridge" / "bench.json"
BASELINE = "python"
# Limits of `landbridge check` for the commands in LIMITED; 50 pools are ParallelCluster's largest cluster.
MAX_SECONDS, MAX_MIB = 0.5, 100
LIMITED = ("check, example", growth.name(50))
# Limit for recording the whole graph of 10 queues of 5 instance types each.
GRAPH, MAX_GRAPH_SECONDS = "record the graph of 50 pools", 3.0


def commands(landbridge: str, folder: Path) -> list[Contender]:
    """Return the commands to measure; the first one, Python alone, is the baseline of all others."""
    python = sys.executable
    uncompiled = {"PYTHONDONTWRITEBYTECODE": "1", "PYTHONPYCACHEPREFIX": str(folder / "no-bytecode")}
    check = (landbridge, "check", "-s", "example")
    return [
        Contender(BASELINE, (python, "-c", "pass")),
        Contender("landbridge --help", (landbridge, "--help")),
        Contender("check, sandbox", (landbridge, "check", "-s", "sandbox")),
        Contender("check, example", check),
        *start.contenders(landbridge),
        Contender("check, example, no bytecode", check, uncompiled),
        Contender("show --expanded, example", (landbridge, "show", "-s", "example", "--expanded")),
        Contender("landbridge-resume, start only", (python, "-c", "import landbridge.burst.hooks.programs")),
        Contender("record the sandbox's graph", (python, "-m", "bench.graph", "sandbox")),
        Contender(GRAPH, (python, "-m", "bench.graph", str(growth.file(folder, 50)))),
    ]


def show(figures: dict[str, Figures], before: dict[str, dict[str, float]]) -> None:
    """Print one row for each command, with its ratio to the last saved run."""
    baseline = figures[BASELINE].median
    print(
        f"{'':30} {'median s':>9} {'min':>7} {'max':>7} {'cpu s':>7} {'x python':>9} {'peak MiB':>9} {'x last time':>12} {'x memory':>9}"
    )
    for name, figure in figures.items():
        row = f"{name:30} {figure.median:9.3f} {min(figure.seconds):7.3f} {max(figure.seconds):7.3f} {figure.processor_median:7.3f} {figure.median / baseline:9.1f} {figure.peak_mib:9.1f}"
        if last := before.get(name):
            row += f" {figure.median / last['median']:12.2f} {figure.peak_mib / last['peak_mib']:9.2f}"
        print(row)


def compare_with_parallelcluster(landbridge: str, folder: Path, runs: int) -> dict[str, Figures]:
    """Measure ParallelCluster's YAML to template and our check of as many pools in turns; print times and ratios."""
    peer = parallelcluster.install()
    environment = folder / "Pulumi.pools50.yaml"
    ours = [
        Contender(start.CHECK, (landbridge, "check", "-s", "hybrid")),
        Contender(growth.name(50), (landbridge, "check", "-f", str(environment))),
        Contender("all AWS resources, example", (sys.executable, "-m", "bench.graph", "example")),
        Contender("all AWS resources, 50 pools", (sys.executable, "-m", "bench.graph", str(environment))),
    ]
    with parallelcluster.emulated_aws() as endpoint:
        theirs = parallelcluster.contenders(peer, endpoint, folder)
        figures = take_turns([*ours, *theirs], runs, ROOT)
    print(
        f"\ncompared with aws-parallelcluster {parallelcluster.VERSION}, YAML to template without its validators; {runs} runs each"
    )
    print(
        f"{'':30} {'median s':>9} {'min':>7} {'max':>7} {'cpu s':>7} {'peak MiB':>9}"
        f" {'x faster':>9} {'x less cpu':>11} {'x smaller':>10}   than"
    )
    for index, contender in enumerate(ours):
        figure, other = figures[contender.name], theirs[index % 2].name
        faster = figures[other].median / figure.median
        less_work = figures[other].processor_median / figure.processor_median
        smaller = figures[other].peak_mib / figure.peak_mib
        print(f"{_row(contender.name, figure)} {faster:9.1f} {less_work:11.1f} {smaller:10.1f}   {other}")
    for contender in theirs:
        print(_row(contender.name, figures[contender.name]))
    return figures


def _row(name: str, figure: Figures) -> str:
    return (
        f"{name:30} {figure.median:9.3f} {min(figure.seconds):7.3f} {max(figure.seconds):7.3f}"
        f" {figure.processor_median:7.3f} {figure.peak_mib:9.1f}"
    )


def within_limits(figures: dict[str, Figures]) -> bool:
    """Print and return whether `check` and the recording of a graph are within their limits."""
    is_good = True
    for name in LIMITED:
        if name in figures:
            figure = figures[name]
            is_within = figure.median < MAX_SECONDS and figure.peak_mib < MAX_MIB
            verdict = "within the limit" if is_within else "ABOVE THE LIMIT"
            print(f"{name}: {figure.median:.3f} s of {MAX_SECONDS}, {figure.peak_mib:.0f} MiB of {MAX_MIB}: {verdict}")
            is_good = is_good and is_within
    if GRAPH in figures:
        is_within = figures[GRAPH].median < MAX_GRAPH_SECONDS
        verdict = "within the limit" if is_within else "ABOVE THE LIMIT"
        print(
            f"{GRAPH}: {figures[GRAPH].median:.2f} s of {MAX_GRAPH_SECONDS:g}, {figures[GRAPH].peak_mib:.0f} MiB:"
            f" {verdict}"
        )
        is_good = is_good and is_within
    limits = start.limits(figures)
    return (not limits or show_limits(limits)) and is_good


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
        "--only", help="measure only commands whose name contains this, and the baseline; no comparison"
    )
    parser.add_argument(
        "--burst", metavar="PARTS", help="measure only these parts of the burst controller: " + ",".join(burst.PARTS)
    )
    parser.add_argument("--no-burst", action="store_true", help="do not measure node starts (some minutes)")
    parser.add_argument("--no-replay", action="store_true", help="do not measure the replay of a queue (two minutes)")
    parser.add_argument("--no-datasets", action="store_true", help="do not measure transfers of datasets (minutes)")
    parser.add_argument("--keep", action="store_true", help="save this run: later runs are compared with it")
    options = parser.parse_args()
    # Bytecode as after any installation.
    subprocess.run([sys.executable, str(ROOT / "bootstrap" / "compile_start.py")], check=False)
    peers = [] if options.peer_runs else ["--no-peers"]
    if options.burst:
        return _measure_burst(*options.burst.split(","), *peers)
    landbridge = str(Path(sys.executable).parent / "landbridge")
    with tempfile.TemporaryDirectory(prefix="landbridge-bench-") as name:
        folder = Path(name)
        chosen = [*commands(landbridge, folder), *growth.contenders(landbridge, folder)]
        always = {BASELINE, *(start.IMPORTS if options.only and options.only in start.CHECK else ())}
        chosen = [
            contender
            for contender in chosen
            if contender.name in always or not options.only or options.only in contender.name
        ]
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
                compare_with_parallelcluster(landbridge, folder, options.peer_runs)
            except (parallelcluster.Unavailable, Failed) as error:
                print(f"\nParallelCluster could NOT be measured here: {error}")
    print()
    is_good = within_limits(figures)
    if not options.no_burst and not options.only:
        is_good = _measure_burst(*peers) == 0 and is_good
    if not options.no_replay and not options.only:
        print("\njobs per second of `landbridge burst simulate`, a queue without AWS\n", flush=True)
        arguments = [] if options.peer_runs else ["--no-peer"]
        is_good = (
            subprocess.run([sys.executable, "-m", "bench.replay", *arguments], cwd=ROOT, check=False).returncode == 0
            and is_good
        )
    if not options.no_datasets and not options.only and options.peer_runs:
        print("\nput and stage of datasets, beside the programs in PATH", flush=True)
        # A program that cannot be measured is reported only.
        subprocess.run([sys.executable, "-m", "bench.datasets"], cwd=ROOT, check=False)
    if options.keep or not before:
        LAST.parent.mkdir(exist_ok=True)
        LAST.write_text(json.dumps({name: figure.as_dict() for name, figure in figures.items()}, indent=2) + "\n")
        print(f"saved in {LAST.relative_to(ROOT)}: later runs are compared with it")
    return 0 if is_good else 1


if __name__ == "__main__":
    sys.exit(main())
