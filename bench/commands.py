"""Commands that users wait for and the recording of whole graphs, beside ParallelCluster: measured as whole processes."""

import sys
from collections.abc import Mapping
from pathlib import Path

from bench import calibration, growth, parallelcluster
from bench.limits import PEER
from bench.measure import Contender, Figures, take_turns

ROOT = Path(__file__).resolve().parent.parent
BASELINE = "python"
SMALL, LARGE = "check, hybrid", growth.name(50)
GRAPH, LARGE_GRAPH = "all AWS resources, example", "all AWS resources, 50 pools"
_MB_IN_MIB = 2**20 / 10**6


def commands(landbridge: str, folder: Path) -> list[Contender]:
    """Return the commands to measure; the first one, Python alone, is the baseline of the table."""
    python = sys.executable
    uncompiled = {"PYTHONDONTWRITEBYTECODE": "1", "PYTHONPYCACHEPREFIX": str(folder / "no-bytecode")}
    check = (landbridge, "check", "-s", "example")
    return [
        Contender(BASELINE, (python, "-c", "pass")),
        calibration.contender(),
        Contender("landbridge --help", (landbridge, "--help")),
        Contender("check, sandbox", (landbridge, "check", "-s", "sandbox")),
        Contender("check, example", check),
        Contender(SMALL, (landbridge, "check", "-s", "hybrid")),
        Contender("check, example, no bytecode", check, uncompiled),
        Contender("show --expanded, example", (landbridge, "show", "-s", "example", "--expanded")),
        Contender("landbridge-resume, start only", (python, "-c", "import landbridge.burst.hooks.programs")),
        *graphs(folder),
    ]


def graphs(folder: Path) -> list[Contender]:
    """Return the recordings of every AWS resource: of one environment, and of 10 queues of 5 instance types each."""
    python = sys.executable
    return [
        Contender(GRAPH, (python, "-m", "bench.graph", "example")),
        Contender(LARGE_GRAPH, (python, "-m", "bench.graph", str(growth.file(folder, 50)))),
    ]


def values(figures: Mapping[str, Figures], names: Mapping[str, str] | None = None) -> dict[str, float]:
    """Return processor seconds (median) and memory (MB) of figures, with other names for some of them."""
    measured: dict[str, float] = {}
    for name, figure in figures.items():
        name = (names or {}).get(name, name)
        measured |= {f"{name}: CPU s": figure.processor_median, f"{name}: MB": figure.peak_mib * _MB_IN_MIB}
    return measured


def show(figures: Mapping[str, Figures], before: Mapping[str, Mapping[str, float]]) -> None:
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


def beside_parallelcluster(landbridge: str, folder: Path, runs: int) -> dict[str, float]:
    """Measure ParallelCluster's YAML to template and our check and graph of as many pools in turns; print times and ratios.

    Returns the values of all, ours from the same turns.
    """
    peer = parallelcluster.install()
    ours = [
        Contender(SMALL, (landbridge, "check", "-s", "hybrid")),
        Contender(LARGE, (landbridge, "check", "-f", str(growth.file(folder, 50)))),
        *graphs(folder),
    ]
    with parallelcluster.emulated_aws() as endpoint:
        theirs = parallelcluster.contenders(peer, endpoint, folder)
        figures = take_turns([calibration.contender(), *ours, *theirs], runs, ROOT)
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
    return values(
        figures, {contender.name: f"{PEER}, {size}" for contender, size in zip(theirs, ("small", "large"), strict=True)}
    )


def _row(name: str, figure: Figures) -> str:
    return (
        f"{name:30} {figure.median:9.3f} {min(figure.seconds):7.3f} {max(figure.seconds):7.3f}"
        f" {figure.processor_median:7.3f} {figure.peak_mib:9.1f}"
    )
