"""`make test`: every tier of tests that this machine can carry, one after the other, and what could not be run.

Ends with a line `N passed, N failed` over all tiers, and with 1 when anything failed or a tier could not be collected.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree as ElementTree
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from sandbox.demo import machine

ROOT = Path(__file__).resolve().parent.parent
NOTHING_COLLECTED = 5


@dataclass(frozen=True)
class Tier:
    """One folder of tests, how long it may take, and what is got ready for it."""

    name: str
    minutes: int
    holds: str
    prepare: Callable[[], None] = lambda: None


@dataclass
class Outcome:
    """What a tier gave."""

    tier: Tier
    counts: Counter[str]
    seconds: float
    reasons: Counter[str] = field(default_factory=Counter)
    broken: str = ""


def _get_engine() -> None:
    """A missing engine is got once, into the cache that the demonstration uses too."""
    from sandbox.engine.find import NoEngine, get_engine

    found = get_engine(lambda line: print(f"  engine: {line}", flush=True))
    if isinstance(found, NoEngine):
        print(f"  {found}", flush=True)


def _get_lab_packages() -> None:
    if machine.lab().able:
        from sandbox.lab import host_packages

        host_packages.install(lambda line: print(f"  lab: {line}", flush=True))


def _get_both() -> None:
    _get_engine()
    _get_lab_packages()


TIERS = (
    Tier("unit", 15, "functions, and small programs on loopback"),
    Tier("graph", 25, "what Pulumi is asked to make", _get_engine),
    Tier("roles", 25, "Ansible roles, on the lab's machines where there is a lab", _get_both),
    Tier("e2e", 35, "the whole line, in the lab where there is one", _get_both),
)


def _lab_stands() -> bool:
    from sandbox.lab.layout import layout

    return layout().state.exists()


def run(tier: Tier, extra: list[str]) -> Outcome:
    """Run one tier in a pytest of its own; its output goes to the terminal as it comes."""
    began = time.monotonic()
    tier.prepare()
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.xml"
        command = [sys.executable, "-m", "pytest", "-q", f"tests/{tier.name}", f"--junitxml={report}", *extra]
        try:
            status = subprocess.run(command, cwd=ROOT, timeout=tier.minutes * 60, check=False).returncode
        except subprocess.TimeoutExpired:
            return Outcome(tier, Counter(), time.monotonic() - began, broken=f"not done after {tier.minutes} minutes")
        counts, reasons = read_report(report)
    broken = ""
    if status not in (0, NOTHING_COLLECTED) and not counts["failed"]:
        broken = f"pytest ended with {status}"
    return Outcome(tier, counts, time.monotonic() - began, reasons, broken)


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
    outcomes = []
    # Tiers share one cluster. What stood before the tests stands after them; what they brought up they take down.
    stood = _lab_stands()
    os.environ["LANDBRIDGE_TESTS_KEEP_LAB"] = "yes" if stood else "no"
    for tier in TIERS:
        if options.tier and tier.name not in options.tier:
            continue
        if not any((ROOT / "tests" / tier.name).glob("**/test_*.py")):
            continue
        print(f"\n== {tier.name}: {tier.holds} ==", flush=True)
        outcomes.append(run(tier, options.extra))
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
    failed = total["failed"] + len(broken)
    print(
        f"\n{total['passed']} passed, {failed} failed, {total['skipped']} skipped in {time.monotonic() - began:.0f}s",
        flush=True,
    )
    return 1 if failed or not total["passed"] else 0


if __name__ == "__main__":
    os.chdir(ROOT)
    sys.exit(main())
