"""`make test`: run every tier of tests that this machine can run, repeat failed tests once, alone, and print a summary.

A test that fails and then passes is a rare failure: it is printed and counted, and does not fail the run. A test that fails
twice does. Ends with a line `N passed, N failed, N skipped`, and with 1 when a test failed twice or a tier was broken off.
"""

import argparse
import os
import sys
import threading
import time
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from functools import partial
from pathlib import Path

from tests.runner import lab_lock, own_state, polite, processes, repeat, results, shared_lab, summary
from tests.runner.results import Outcome
from tests.runner.tiers import TIERS, Tier

ROOT = Path(__file__).resolve().parent.parent
#: Logs and results of the last run; not tracked.
LOGS = Path(".landbridge") / "tests"
NOTHING_COLLECTED = 5


def paths_of(extra: Sequence[str], tier: Tier | None = None) -> list[str]:
    """Return the arguments that are paths of tests, of one tier or of all, with or without `::` and a name."""
    folder = f"tests/{tier.name}" if tier else "tests"
    chosen = [(argument, Path(os.path.normpath(argument.partition("::")[0]))) for argument in extra]
    return [argument for argument, path in chosen if path.is_relative_to(folder) and (ROOT / path).exists()]


def is_requested(tier: Tier, names: Sequence[str] | None, extra: Sequence[str]) -> bool:
    """Return whether a tier has tests and is requested: by name, by a path of its tests, or as one of all."""
    if paths_of(extra) and not paths_of(extra, tier):
        return False
    return (not names or tier.name in names) and any((ROOT / "tests" / tier.name).glob("**/test_*.py"))


def run(tier: Tier, extra: Sequence[str], *, name: str = "", echo: bool = True, behind: bool = False) -> Outcome:
    """Run one tier in a separate pytest process. `behind` gives it a small share of the processors."""
    started = time.monotonic()
    tier.prepare()
    outcome = Outcome(tier)
    name = name or tier.name
    folder = ROOT / LOGS
    folder.mkdir(parents=True, exist_ok=True)
    outcome.log, rows = folder / f"{name}.log", folder / f"{name}.jsonl"
    rows.write_text("")
    if paths := paths_of(extra):
        selected, extra = paths_of(extra, tier), [argument for argument in extra if argument not in paths]
    else:
        selected = [] if any(argument.startswith("@") for argument in extra) else [f"tests/{tier.name}"]
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "--tb=short",
        *selected,
        *([] if name != tier.name else tier.workers(behind=behind)),
        *extra,
    ]
    with ExitStack() as stack:
        join = partial(polite.join, stack.enter_context(polite.polite())) if behind else lambda: None
        status = processes.run(
            command,
            folder=ROOT,
            variables={results.VARIABLE: str(rows)},
            progress=rows,
            idle_seconds=tier.idle_minutes * 60,
            log=stack.enter_context(outcome.log.open("wb")),
            echo=echo,
            before_exec=join,
        )
    results.read(rows, outcome)
    outcome.seconds = time.monotonic() - started
    if processes.STOP.is_set():
        outcome.broken = "ended by a signal"
    elif status is None:
        outcome.broken = f"no test ended for {tier.idle_minutes:g} minutes"
    elif status not in (0, NOTHING_COLLECTED) and not outcome.counts["failed"]:
        outcome.broken = f"pytest ended with {status}"
    if tier.has_deployment and not repeat.is_worthwhile(outcome):
        shared_lab.take_down_early()
    return outcome


def run_behind(tiers: Sequence[Tier], extra: Sequence[str], front_ended: threading.Event) -> list[Outcome]:
    """Run tiers one after the other with a small share of the processors, until the tiers in front have ended."""
    outcomes: list[Outcome] = []
    for tier in tiers:
        if processes.STOP.is_set():
            break
        outcomes.append(run(tier, extra, echo=False, behind=not front_ended.is_set()))
        print(f"\n[{summary.line(outcomes[-1])}]", flush=True)
    return outcomes


def run_beside(tier: Tier, extra: Sequence[str]) -> list[Outcome]:
    """Run a tier whose output is printed when the first tier has ended."""
    if processes.STOP.is_set():
        return []
    outcome = run(tier, extra, echo=False)
    print(f"\n[{summary.line(outcome)}]", flush=True)
    return [outcome]


def run_lanes(front: Sequence[Tier], behind: Sequence[Tier], extra: Sequence[str]) -> list[Outcome]:
    """Run the tiers in front, which mostly wait, and the others at the same time; print the others when the first has ended."""
    outcomes: list[Outcome] = []
    front_ended = threading.Event()
    with ThreadPoolExecutor(len(front)) as pool:
        last = pool.submit(run_behind, behind, extra, front_ended)
        beside = [pool.submit(run_beside, tier, extra) for tier in front[1:]]
        if not processes.STOP.is_set():
            print(f"\n== {front[0].name}: {front[0].holds} ==", flush=True)
            outcomes.append(run(front[0], extra))
        for lane in beside:
            lane.exception()
        front_ended.set()
        polite.restore_share()
        for lane in (*beside, last):
            for outcome in lane.result():
                assert outcome.log is not None
                print(
                    f"\n== {outcome.tier.name}: {outcome.tier.holds} ==\n{outcome.log.read_text(errors='replace')}",
                    flush=True,
                )
                outcomes.append(outcome)
    return outcomes


def run_one_after_the_other(tiers: Sequence[Tier], extra: Sequence[str]) -> list[Outcome]:
    """Run tiers that compute, if none in front was requested: two at a time would take each other's processors."""
    outcomes: list[Outcome] = []
    for tier in tiers:
        if processes.STOP.is_set():
            break
        print(f"\n== {tier.name}: {tier.holds} ==", flush=True)
        outcomes.append(run(tier, extra))
    return outcomes


def run_all(tiers: Sequence[Tier], extra: Sequence[str]) -> tuple[list[Outcome], dict[str, str]]:
    """Run the tiers, then repeat failed tests. Return the outcomes, and the rare failures with their first errors."""
    front = [tier for tier in tiers if not tier.behind]
    behind = [tier for tier in tiers if tier.behind]
    outcomes = run_lanes(front, behind, extra) if front else run_one_after_the_other(behind, extra)
    rare: dict[str, str] = {}
    for outcome in outcomes:
        if processes.STOP.is_set() or outcome.broken or not repeat.is_worthwhile(outcome):
            continue
        print(f"\n== {outcome.tier.name}: {len(outcome.failures)} failed; once more, alone ==", flush=True)
        selection = repeat.selection(outcome, ROOT / LOGS)
        rare |= repeat.merge(outcome, run(outcome.tier, [f"@{selection}"], name=f"{outcome.tier.name}-repeated"))
    return outcomes, rare


def main(argv: list[str] | None = None) -> int:
    """Run the requested tiers; see the module's docstring for its output and exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tier", action="append", choices=[tier.name for tier in TIERS])
    parser.add_argument("extra", nargs="*", help="further arguments for pytest, after --")
    options = parser.parse_args(argv)
    started = time.monotonic()
    # Tests start thousands of processes; without compiled modules, half of their time is compiling.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    own_state.separate()
    tiers = [tier for tier in TIERS if is_requested(tier, options.tier, options.extra)]
    say = partial(print, flush=True)
    with ExitStack() as stack:
        if any(tier.uses_lab for tier in tiers):
            stack.enter_context(lab_lock.held(lab_lock.lock_file(), ROOT, say))
            stack.enter_context(shared_lab.shared(say))
        outcomes, rare = run_all(tiers, options.extra)
    total = sum((outcome.counts for outcome in outcomes), Counter[str]())
    failed = total["failed"] + sum(bool(outcome.broken) for outcome in outcomes)
    for line in summary.lines(outcomes, rare):
        print(line)
    number = processes.received_signal()
    if number is not None:
        print(f"ended by signal {number}", flush=True)
        return 128 + number
    print(
        f"\n{total['passed']} passed, {failed} failed, {total['skipped']} skipped in {time.monotonic() - started:.0f}s",
        flush=True,
    )
    return 1 if failed or not total["passed"] else 0


if __name__ == "__main__":
    os.chdir(ROOT)
    processes.stop_on_signals()
    try:
        status = main()
    finally:
        processes.end_descendants()
    sys.exit(status)
