"""Judgement of the link's tunnels and BGP sessions, by netcheck's own checks. Pure."""

from collections.abc import Sequence

from landbridge.environment import Environment
from landbridge.ops.netcheck.collect import HostFacts
from landbridge.ops.netcheck.gateway import gateway_results
from landbridge.ops.netcheck.result import LinkResult
from landbridge.ops.status.report import Judged, OperatorTask, StatusLine

#: Checks whose facts the status reads. netcheck has the others, which take longer.
CHECKS = ("tunnel", "redundancy", "bgp")


def link_judged(environment: Environment, every: Sequence[HostFacts]) -> Judged:
    """Yield the tunnels and sessions of each gateway."""
    if environment.link is None:
        return
    gateways = [facts for facts in every if facts.host.gateway is not None]
    if not gateways:
        yield StatusLine("link", "not read", "the environment has no gateway that Landbridge configures")
    for facts in gateways:
        name, gateway = facts.host.name, facts.host.gateway
        if facts.error or gateway is None:
            yield StatusLine("link", "not read", f"{name}: {facts.error}")
            continue
        results = [result for result in gateway_results(gateway, facts.data) if result.check in CHECKS]
        if not results:
            yield StatusLine("link", "not read", f"{name}: `landbridge up` has written no outputs on this machine")
        passed = [_subject(result) for result in results if result.status == "passed"]
        if passed:
            yield StatusLine("link", "ok", f"{name}: {', '.join(passed)}")
        for result in results:
            yield from _fault(environment.name, result)


def _fault(environment: str, result: LinkResult) -> Judged:
    text = f"{result.host}: {_subject(result)}: {result.message}"
    if result.status == "not judged":
        yield StatusLine("link", "not read", text)
    elif result.status != "passed":
        yield StatusLine("link", "attention", f"{text} [{result.cause}]")
        rank = 1 if result.status == "failed" else 3
        yield OperatorTask(rank, f"fault of the link: {result.cause}", f"landbridge netcheck -s {environment}")


def _subject(result: LinkResult) -> str:
    return f"{result.check} {result.subject}".strip()
