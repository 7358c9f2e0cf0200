"""Carrying out a plan: launch, name, and undo what is of no use alone."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from landbridge.burst.ec2 import Ec2
from landbridge.burst.errors import AwsError, Kind, LaunchProblem
from landbridge.burst.request import Plan, Request

Log = Callable[..., None]


@dataclass
class Outcome:
    """What became of every node that was to be launched."""

    launched: dict[str, str] = field(default_factory=dict)  # node -> instance
    failed: dict[str, LaunchProblem] = field(default_factory=dict)

    def fail(self, nodes: Iterable[str], problem: LaunchProblem) -> None:
        for node in nodes:
            self.launched.pop(node, None)
            self.failed[node] = problem


def execute(plan: Plan, ec2: Ec2, cluster: str, log: Log) -> Outcome:
    """Launch every request. A failure concerns the request's own jobs and no others."""
    outcome = Outcome()
    broken: dict[int, LaunchProblem] = {}
    for request in plan.requests:
        before = next((broken[job] for job in request.jobs if job in broken), None) if request.whole else None
        problem = before or _one(request, ec2, outcome, log)
        if problem and request.whole:
            broken.update(dict.fromkeys(request.jobs, problem))
            gang = [r for r in plan.requests if r.whole and set(r.jobs) & set(request.jobs)]
            _undo([node for r in gang for node in r.nodes], ec2, outcome, problem, log)
    return outcome


def _one(request: Request, ec2: Ec2, outcome: Outcome, log: Log) -> LaunchProblem | None:
    """Launch and name one request; what could not be launched is in the outcome, and why is returned."""
    ids, problem = _try_subnets(request, ec2, log)
    names = _assign(request, ids)
    spare = [instance for instance in ids if instance not in names and instance not in request.named.values()]
    try:
        ec2.name({instance: node for instance, node in names.items() if request.named.get(node) != instance}, {})
    except AwsError as error:
        # An instance that nobody can name never becomes a node.
        problem, spare, names = error.problem, list(ids), {}
    if spare:
        _end(spare, ec2, log)
    outcome.launched.update({node: instance for instance, node in names.items()})
    missing = [node for node in request.nodes if node not in outcome.launched]
    if missing:
        problem = problem or LaunchProblem("UnfulfillableCapacity", "fewer instances than nodes")
        outcome.fail(missing, problem)
        return problem
    return None


def _assign(request: Request, ids: Iterable[str]) -> dict[str, str]:
    """Instance -> node; nodes that an earlier run named keep their instance."""
    names = {instance: node for node, instance in request.named.items()}
    free = [instance for instance in sorted(ids) if instance not in names]
    return names | dict(zip(free, (node for node in request.nodes if node not in request.named), strict=False))


def _try_subnets(request: Request, ec2: Ec2, log: Log) -> tuple[list[str], LaunchProblem | None]:
    """Ask subnet after subnet, as long as it is only capacity that is missing."""
    ids: list[str] = []
    problem: LaunchProblem | None = LaunchProblem("NoSubnet", "no subnet of the pool is in the zone of the job's nodes")
    for attempt, subnet in enumerate(request.subnets):
        wanted = len(request.nodes) - len(ids)
        about: dict[str, Any] = {"jobs": list(request.jobs), "nodes": list(request.nodes), "subnet": subnet.id}
        try:
            launched = ec2.launch(request, wanted, subnet, attempt)
            got, problem = list(launched.ids), launched.problem
        except AwsError as error:
            got, problem = [], error.problem
        if request.whole and 0 < len(got) < wanted:
            _end(got, ec2, log)
            got = []
        ids += got
        log("launch", **about, zone=subnet.zone, instances=got, problem=problem.reason() if problem else None)
        if len(ids) >= len(request.nodes):
            return ids, None
        if problem and problem.kind is not Kind.CAPACITY:
            break
    return ids, problem


def _undo(nodes: Iterable[str], ec2: Ec2, outcome: Outcome, problem: LaunchProblem, log: Log) -> None:
    """Half a gang is of no use: end what was launched of it."""
    started = {node: outcome.launched[node] for node in nodes if node in outcome.launched}
    if started:
        _end(list(started.values()), ec2, log)
        outcome.fail(started, problem)


def _end(ids: list[str], ec2: Ec2, log: Log) -> None:
    try:
        ec2.terminate(ids)
        log("ended", instances=ids)
    except AwsError as error:
        # They stay in AWS until their lease is over; the log is how a person finds them earlier.
        log("leaked", instances=ids, problem=error.problem.reason())
