"""Run of the acceptance ladder: each rung runs on every node that passed the rungs below it, so that one bad node does
not hide the others.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

from landbridge.acceptance.judge import given, judge, judge_pair
from landbridge.acceptance.outputs import INFOROM_CORRUPTED, Unreadable
from landbridge.acceptance.programs import missing, node_programs, programs_checks
from landbridge.acceptance.result import AcceptanceCheck, AcceptanceOutcome, AcceptanceReport
from landbridge.acceptance.rungs import PROGRAMS, RUNGS, AcceptanceSettings, Rung, groups
from landbridge.catalog import InstanceType, Platform


@dataclass(frozen=True, slots=True)
class ProgramResult:
    """Result of a program: exit code, stdout, errors and run time. `code` is None when it was not started.

    `errors`: stderr, or the reason why the program was not started or did not end.
    """

    code: int | None
    text: str
    errors: str = ""
    seconds: float = 0.0


#: Runs a rung on a group of nodes, or reads the recorded output of an earlier run.
Runner = Callable[[Rung, Sequence[str]], ProgramResult]


@dataclass(slots=True)
class Ladder:
    """Nodes and rungs of a run. `platforms`: of on-prem nodes, `instances`: types of cloud nodes; `thresholds`: the site's own, by `<rung>.<check>`; `on_outcome`
    is called with each outcome when it is known; `max_parallel`: groups of nodes that run a rung at the same time; `domains`: NVLink domain of nodes
    that share one with other nodes.
    """

    environment: str
    platforms: Mapping[str, Platform]
    run: Runner
    settings: AcceptanceSettings = field(default_factory=AcceptanceSettings)
    thresholds: Mapping[str, float] = field(default_factory=dict)
    on_outcome: Callable[[AcceptanceOutcome], None] = lambda outcome: None
    max_parallel: int = 8
    rungs: Sequence[Rung] = RUNGS
    instances: Mapping[str, InstanceType] = field(default_factory=dict)
    domains: Mapping[str, str] = field(default_factory=dict)

    @property
    def nodes(self) -> tuple[str, ...]:
        """Return all nodes of the run."""
        return (*self.platforms, *self.instances)


def climb(ladder: Ladder) -> AcceptanceReport:
    """Run the rungs. A node that fails a rung, or on which it does not run, runs no rung above it; of a pair, both nodes
    stop.
    """
    outcomes: list[AcceptanceOutcome] = []
    remaining = [*ladder.platforms, *ladder.instances]
    drivers: list[str] = []
    for rung in ladder.rungs:
        on_site = ladder.instances if rung.site == "aws" else ladder.platforms
        node_groups = groups(rung, [node for node in remaining if node in on_site or rung is PROGRAMS])
        with ThreadPoolExecutor(max_workers=max(1, min(ladder.max_parallel, len(node_groups)))) as pool:
            results = list(pool.map(lambda nodes, rung=rung: ladder.run(rung, nodes), node_groups))
        for nodes, result in zip(node_groups, results, strict=True):
            outcome = judged(ladder, rung, nodes, result, drivers[0] if drivers else "")
            if rung.name == "driver" and not outcome.message and not drivers:
                drivers += [str(check.measured) for check in outcome.checks if check.name == "driver" and check.passed]
            outcomes.append(outcome)
            ladder.on_outcome(outcome)
            if outcome.stops:
                remaining = [node for node in remaining if node not in nodes]
    return AcceptanceReport(ladder.environment, ladder.nodes, tuple(outcomes))


def judged(
    ladder: Ladder, rung: Rung, nodes: Sequence[str], result: ProgramResult, driver: str = ""
) -> AcceptanceOutcome:
    """Return the outcome of a program. A program that ended with an error failed; one that was not started is unjudged."""
    reason = reason_not_run(rung, result)
    if reason:
        return AcceptanceOutcome(rung.name, tuple(nodes), message=reason, seconds=result.seconds)
    try:
        if rung is PROGRAMS:
            return _listed(ladder, nodes, result)
        if rung.site == "aws":
            checks = judge_pair([ladder.instances[node] for node in nodes], result.text, given(rung, ladder.thresholds))
        else:
            platforms = [ladder.platforms[node] for node in nodes]
            domains = {ladder.domains.get(node, "") for node in nodes}
            one_domain = len(domains) == 1 and "" not in domains
            checks = judge(rung, platforms, result.text, ladder.thresholds, driver, one_domain=one_domain)
    except Unreadable as error:
        if result.code == 0:
            return AcceptanceOutcome(rung.name, tuple(nodes), message=str(error), seconds=result.seconds)
        checks = (AcceptanceCheck(rung.program, f"ended with {result.code}: {error}", False),)
    # dcgmi also ends with an error when a test fails; its output then describes the failure better.
    is_warning = rung.name == "driver" and result.code == INFOROM_CORRUPTED
    if result.code != 0 and not is_warning and not any(check.passed is False for check in checks):
        message = " ".join(result.errors.split())[-300:]
        checks = (*checks, AcceptanceCheck(rung.program, f"ended with {result.code}: {message}", False))
    return AcceptanceOutcome(rung.name, tuple(nodes), checks, "", result.seconds)


def _listed(ladder: Ladder, nodes: Sequence[str], result: ProgramResult) -> AcceptanceOutcome:
    """Return the outcome of the list of a node's programs; one that is missing is its message. Raises Unreadable."""
    checks = programs_checks(node_programs(result.text), _of_site(ladder, nodes), ladder.settings, len(ladder.nodes))
    return AcceptanceOutcome(PROGRAMS.name, tuple(nodes), checks, missing(checks), result.seconds)


def _of_site(ladder: Ladder, nodes: Sequence[str]) -> list[Rung]:
    """Return the rungs that run on these nodes."""
    site = "aws" if nodes[0] in ladder.instances else "onprem"
    return [rung for rung in ladder.rungs if rung.site == site]


def reason_not_run(rung: Rung, result: ProgramResult) -> str:
    """Return the reason why a rung was not run, in a sentence; empty if its program was started."""
    message = " ".join(result.errors.split())
    if re.search(r"execve\(\).*No such file|command not found|: not found", message) or result.code == 127:
        return f"{rung.program} is not on the node"
    if result.code is None or result.code == 255:
        return message[-300:] or "it could not be started"
    if re.search(
        r"Unable to allocate|allocat(e|ion) fail|Requested node|Invalid (partition|node|account|qos)", message
    ):
        return f"Slurm did not run it: {message[-300:]}"
    return ""
