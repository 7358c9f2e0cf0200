"""Run of the acceptance ladder: each rung runs on every node that passed the rungs below it, so that one bad node does
not hide the others.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

from landbridge.acceptance.judge import judge
from landbridge.acceptance.outputs import Unreadable
from landbridge.acceptance.result import AcceptanceCheck, AcceptanceOutcome, AcceptanceReport
from landbridge.acceptance.rungs import RUNGS, AcceptanceSettings, Rung, groups
from landbridge.catalog import Platform


@dataclass(frozen=True, slots=True)
class Ran:
    """Output, exit code and seconds of a program. `code` is None when it was never started."""

    code: int | None
    text: str
    said: str = ""
    seconds: float = 0.0


#: Runs a rung on some nodes at once, or knows what it printed there.
Runner = Callable[[Rung, Sequence[str]], Ran]


@dataclass(slots=True)
class Ladder:
    """Nodes and rungs of a run. `platforms` are the nodes' own, `given` the site's thresholds; `tell` gets each outcome
    as it is known.
    """

    environment: str
    platforms: Mapping[str, Platform]
    run: Runner
    settings: AcceptanceSettings = field(default_factory=AcceptanceSettings)
    given: Mapping[str, float] = field(default_factory=dict)
    tell: Callable[[AcceptanceOutcome], None] = lambda outcome: None
    at_once: int = 8
    rungs: Sequence[Rung] = RUNGS


def climb(ladder: Ladder) -> AcceptanceReport:
    """Run the rungs. A node that fails a rung, or cannot be judged, runs no rung above it; of a pair, both nodes stop."""
    outcomes: list[AcceptanceOutcome] = []
    left = list(ladder.platforms)
    drivers: list[str] = []
    for rung in ladder.rungs:
        together = groups(rung, left)
        with ThreadPoolExecutor(max_workers=max(1, min(ladder.at_once, len(together)))) as pool:
            ran = list(pool.map(lambda nodes, rung=rung: ladder.run(rung, nodes), together))
        for nodes, found in zip(together, ran, strict=True):
            outcome = judged(ladder, rung, nodes, found, drivers[0] if drivers else "")
            if rung.name == "driver" and not outcome.message and not drivers:
                drivers += [str(check.measured) for check in outcome.checks if check.what == "driver" and check.passed]
            outcomes.append(outcome)
            ladder.tell(outcome)
            if outcome.status != "passed":
                left = [node for node in left if node not in nodes]
    return AcceptanceReport(ladder.environment, tuple(ladder.platforms), tuple(outcomes))


def judged(ladder: Ladder, rung: Rung, nodes: Sequence[str], ran: Ran, driver: str = "") -> AcceptanceOutcome:
    """Return the outcome of a program. A program that ended with an error failed; one that was not started is unjudged."""
    platforms = [ladder.platforms[node] for node in nodes]
    missing = why(rung, ran)
    if missing:
        return AcceptanceOutcome(rung.name, tuple(nodes), message=missing, seconds=ran.seconds)
    try:
        checks = judge(rung, platforms, ran.text, ladder.given, driver)
    except Unreadable as error:
        if ran.code == 0:
            return AcceptanceOutcome(rung.name, tuple(nodes), message=str(error), seconds=ran.seconds)
        checks = (AcceptanceCheck(rung.program, f"ended with {ran.code}: {error}", False),)
    # dcgmi ends with an error of its own when a test fails, which its result says better.
    if ran.code != 0 and not any(check.passed is False for check in checks):
        message = " ".join(ran.said.split())[-300:]
        checks = (*checks, AcceptanceCheck(rung.program, f"ended with {ran.code}: {message}", False))
    return AcceptanceOutcome(rung.name, tuple(nodes), checks, "", ran.seconds)


def why(rung: Rung, ran: Ran) -> str:
    """Return the reason why a rung was not run, in a sentence; empty where its program was started."""
    message = " ".join(ran.said.split())
    if re.search(r"execve\(\).*No such file|command not found|: not found", message) or ran.code == 127:
        return f"{rung.program} is not on the node"
    if ran.code is None or ran.code == 255:
        return message[-300:] or "it could not be started"
    if re.search(r"Unable to allocate|allocation failure|Requested node|Invalid (partition|node|account|qos)", message):
        return f"Slurm did not run it: {message[-300:]}"
    return ""
