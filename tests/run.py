"""`make test`: every tier of tests that this machine can carry, one after the other, and what could not be run.

Ends with a line `N passed, N failed` over all tiers, and with 1 when anything failed or a tier could not be collected.
"""

import argparse
import os
import signal
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree as ElementTree
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import IO, Any

from sandbox.demo import machine
from tests import polite

ROOT = Path(__file__).resolve().parent.parent
NOTHING_COLLECTED = 5


@dataclass(frozen=True)
class Tier:
    """One folder of tests, how long it may take, what is got ready for it, and how its tests share the processors.

    `spread` is pytest-xdist's word for that: tests alone, or whole files, where a file's tests share what is dear to make.
    None: one after the other. `beside` names a tier that mostly waits: this one runs meanwhile, and lets it go first.
    """

    name: str
    minutes: float
    holds: str
    prepare: Callable[[], None] = lambda: None
    spread: str | None = None
    beside: str = ""

    def workers(self) -> list[str]:
        """Arguments for pytest: two processes at most, so that a test's own time limits hold on a small machine."""
        if self.spread is None:
            return []
        # In the order of tests.order, not by how many tests a file has.
        return ["-n", str(min(2, os.cpu_count() or 1)), f"--dist={self.spread}", "--no-loadscope-reorder"]


@dataclass
class Outcome:
    """What a tier gave."""

    tier: Tier
    counts: Counter[str]
    seconds: float
    reasons: Counter[str] = field(default_factory=Counter)
    broken: str = ""
    failures: list[str] = field(default_factory=list)


def _get_engine() -> None:
    """A missing engine is got once, into the cache that the demonstration uses too."""
    from sandbox.pulumi_provider.engine.find import NoEngine, get_engine

    found = get_engine(lambda line: print(f"  engine: {line}", flush=True))
    if isinstance(found, NoEngine):
        print(f"  {found}", flush=True)


def _get_lab_packages() -> None:
    if machine.lab().able:
        from sandbox.nspawn.host import host_packages

        host_packages.install(lambda line: print(f"  lab: {line}", flush=True))


def _get_both() -> None:
    _get_engine()
    _get_lab_packages()


TIERS = (
    Tier("unit", 15, "functions, and small programs on loopback", spread="worksteal"),
    Tier("graph", 40, "what Pulumi is asked to make", _get_engine, spread="loadfile", beside="e2e"),
    # Of the roles, a file has a lab of its own, or is the only one on the sandbox's. Of the last tier several need its ports.
    Tier("roles", 35, "Ansible roles, on the lab's machines where there is a lab", _get_both, spread="loadfile"),
    Tier("e2e", 35, "the whole line, in the lab where there is one", _get_both),
)


def _lab_stands() -> bool:
    from sandbox.nspawn.layout import layout

    return layout().state.exists()


def run(tier: Tier, extra: list[str], into: IO[str] | None = None) -> Outcome:
    """Run one tier in a pytest of its own; its output goes to the terminal as it comes, or politely into a file."""
    began = time.monotonic()
    tier.prepare()
    with tempfile.TemporaryDirectory() as folder:
        report, failures = Path(folder) / "report.xml", Path(folder) / "failures"
        failures.touch()
        command = [sys.executable, "-m", "pytest", "-q", f"tests/{tier.name}", f"--junitxml={report}"]
        command += [*tier.workers(), *extra]
        minutes = tier.minutes * (4 if os.environ.get("LANDBRIDGE_TESTS_LONG") == "yes" else 1)
        status = _ended(command, minutes * 60, {"LANDBRIDGE_TESTS_FAILURES": str(failures)}, into)
        told = failures.read_text().splitlines()
        if status is None:
            late = f"not done after {minutes:g} minutes"
            return Outcome(tier, Counter(), time.monotonic() - began, broken=late, failures=told)
        counts, reasons = read_report(report)
    broken = ""
    if status not in (0, NOTHING_COLLECTED) and not counts["failed"]:
        broken = f"pytest ended with {status}"
    return Outcome(tier, counts, time.monotonic() - began, reasons, broken, told)


def run_together(tier: Tier, others: Sequence[Tier], extra: list[str]) -> list[Outcome]:
    """Run a tier, and meanwhile the others; what they print is shown when it has ended."""
    with ThreadPoolExecutor(max(1, len(others))) as pool, ExitStack() as files:
        going = []
        for other in others:
            into = files.enter_context(tempfile.TemporaryFile("w+"))
            going.append((other, into, pool.submit(run, other, extra, into)))
        outcomes = [run(tier, extra)]
        for other, into, future in going:
            outcomes.append(future.result())
            into.seek(0)
            print(f"\n== {other.name}: {other.holds} ==\n{into.read()}", flush=True)
    return outcomes


def _ended(command: list[str], seconds: float, variables: dict[str, str], into: IO[str] | None) -> int | None:
    """The exit status; None where it took too long. Then it is interrupted first, so that it ends what it has started."""
    # Started in the background of a shell this process may ignore SIGINT, and would pass that on.
    streams: dict[str, Any] = {"stdout": into, "stderr": subprocess.STDOUT} if into is not None else {}
    with ExitStack() as stack:
        politely = partial(polite.join, stack.enter_context(polite.polite())) if into is not None else None
        process = stack.enter_context(
            subprocess.Popen(
                command,
                cwd=ROOT,
                env={**os.environ, **variables},
                preexec_fn=partial(_as_usual, politely),
                **streams,
            )
        )
        try:
            return process.wait(seconds)
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGINT)
        try:
            process.wait(120)
        except subprocess.TimeoutExpired:
            process.kill()
    return None


def _as_usual(politely: Callable[[], None] | None) -> None:
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    if politely is not None:
        politely()


def read_report(report: Path) -> tuple[Counter[str], Counter[str]]:
    """(passed, failed, skipped counts; reasons of the skips) from pytest's XML report."""
    counts: Counter[str] = Counter()
    reasons: Counter[str] = Counter()
    if not report.is_file():
        return counts, reasons
    for case in ElementTree.parse(report).iter("testcase"):
        skipped = case.find("skipped")
        if case.find("failure") is not None or case.find("error") is not None:
            counts["failed"] += 1
        elif skipped is not None:
            counts["skipped"] += 1
            reasons[skipped.get("message", "no reason given")] += 1
        else:
            counts["passed"] += 1
    return counts, reasons


def main(argv: list[str] | None = None) -> int:
    """Run the tiers asked for; see the module's docstring for what is printed and returned."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tier", action="append", choices=[tier.name for tier in TIERS])
    parser.add_argument("extra", nargs="*", help="further arguments for pytest, after --")
    options = parser.parse_args(argv)
    began = time.monotonic()
    outcomes: list[Outcome] = []
    # Tests start thousands of processes; where nothing compiled is kept, half of their time is compiling.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    # Tiers share one cluster. What stood before the tests stands after them; what they brought up they take down.
    stood = _lab_stands()
    os.environ["LANDBRIDGE_TESTS_KEEP_LAB"] = "yes" if stood else "no"
    tiers = [
        tier
        for tier in TIERS
        if (not options.tier or tier.name in options.tier) and any((ROOT / "tests" / tier.name).glob("**/test_*.py"))
    ]
    first = [tier for tier in tiers if tier.beside not in {one.name for one in tiers}]
    for tier in first:
        others = [one for one in tiers if one.beside == tier.name]
        print(f"\n== {tier.name}: {tier.holds} ==", flush=True)
        outcomes += run_together(tier, others, options.extra)
    if not stood and _lab_stands():
        subprocess.run(
            [sys.executable, "-m", "landbridge.cli.main", "sandbox", "down"], cwd=ROOT, timeout=300, check=False
        )
    total = sum((outcome.counts for outcome in outcomes), Counter[str]())
    broken = [outcome for outcome in outcomes if outcome.broken]

    print(f"\n{'tier':8} {'passed':>7} {'failed':>7} {'not run':>8} {'seconds':>8}")
    for outcome in outcomes:
        counts = outcome.counts
        print(
            f"{outcome.tier.name:8} {counts['passed']:7} {counts['failed']:7} {counts['skipped']:8}"
            f" {outcome.seconds:8.0f}  {outcome.broken}"
        )
    for outcome in outcomes:
        for reason, count in outcome.reasons.most_common():
            print(f"not run: {count} of {outcome.tier.name}: {reason}")
    # Last, as a log that is cut keeps its end.
    for line in [line for outcome in outcomes for line in outcome.failures]:
        print(f"failed: {line}")
    failed = total["failed"] + len(broken)
    print(
        f"\n{total['passed']} passed, {failed} failed, {total['skipped']} skipped in {time.monotonic() - began:.0f}s",
        flush=True,
    )
    return 1 if failed or not total["passed"] else 0


if __name__ == "__main__":
    os.chdir(ROOT)
    sys.exit(main())
