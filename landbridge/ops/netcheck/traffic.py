"""Judgement of connections, DNS and clocks of hosts at both ends of the link. Pure."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from landbridge.ops.netcheck.collect import HostFacts
from landbridge.ops.netcheck.result import LinkResult, Subject
from landbridge.plan.site.link.expectations import LinkExpectations
from landbridge.plan.site.link.flows import CLOUD_NODE, FlowExpectation, NameExpectation

#: Response code of DNS for an answer. Source: RFC 1035, section 4.1.1.
_NO_ERROR = 0
#: Fields of `chronyc -c tracking`: system time offset in seconds, and leap status. Source: chronyc(1), tracking.
_OFFSET, _LEAP = 4, 13


def flow_results(expected: LinkExpectations, facts: HostFacts) -> Iterator[LinkResult]:
    """Yield a result for each connection that this host tried."""
    tried = {(item["address"], item["port"]): item["outcome"] for item in facts.data.get("tcp", ())}
    for flow in expected.flows:
        if flow.origin != facts.host.side or facts.host.gateway is not None or flow.host not in ("", facts.host.name):
            continue
        addresses = [address for address, port in tried if port == flow.port and flow.address in (CLOUD_NODE, address)]
        for address in dict.fromkeys(addresses):
            subject = Subject("flow", facts.host.name, f"{flow.to} {address}:{flow.port}")
            if not flow.may_be_stopped or _is_heard(_outcomes(facts, address)):
                yield _connection(subject, flow, tried[address, flow.port])


def silent_hosts(expected: LinkExpectations, every: Sequence[HostFacts]) -> tuple[str, ...]:
    """Return the hosts that may be stopped and of which no port answers one of the hosts that tried."""
    return tuple(
        dict.fromkeys(
            flow.to
            for facts in every
            for flow in expected.flows
            if flow.may_be_stopped and flow.host == facts.host.name
            for outcomes in [_outcomes(facts, flow.address)]
            if outcomes and not _is_heard(outcomes)
        )
    )


def name_results(expected: LinkExpectations, every: Sequence[HostFacts]) -> Iterator[LinkResult]:
    """Yield a result for each DNS query. One that fails while the other direction works is named as such."""
    working = {
        facts.host.side
        for facts in every
        for item in facts.data.get("dns", ())
        for name in expected.names
        if (name.server, name.name) == (item["server"], item["name"]) and _answered(name, item)
    }
    for facts in every:
        answers = {(item["server"], item["name"]): item for item in facts.data.get("dns", ())}
        for name in expected.names:
            item = answers.get((name.server, name.name))
            if name.origin == facts.host.side and item is not None and facts.host.gateway is None:
                subject = Subject("dns", facts.host.name, f"{name.name} from {name.server}")
                yield _name(subject, name, item, bool(working - {name.origin}))


def clock_results(expected: LinkExpectations, every: Sequence[HostFacts]) -> Iterator[LinkResult]:
    """Yield a result for each host: its clock against the first host's clock, and its synchronisation by chrony."""
    readable = [facts for facts in every if not facts.error]
    for facts in readable:
        subject = Subject("clock", facts.host.name, "")
        reference = readable[0]
        apart, margin = abs(facts.clock - reference.clock), facts.margin + reference.margin
        limits = expected.limits
        tracking = _tracking(facts.data)
        if apart - margin > limits.clock_warning_seconds:
            cause = "clock-skew" if apart > limits.clock_error_seconds else "clock-drift"
            yield subject.fault(cause, f"{apart:.0f} s apart from the clock of {reference.host.name}")
        elif tracking is None:
            yield subject.unjudged("chronyc gives no state of the clock")
        elif abs(tracking[0]) > limits.clock_warning_seconds or not tracking[1]:
            cause = "clock-skew" if abs(tracking[0]) > limits.clock_error_seconds else "clock-drift"
            state = "synchronised" if tracking[1] else "not synchronised"
            yield subject.fault(cause, f"{state}, {abs(tracking[0]):.3f} s from the time servers")
        else:
            yield subject.passed(f"{abs(tracking[0]) * 1000:.3f} ms from the time servers")


def _outcomes(facts: HostFacts, address: str) -> list[str]:
    """Return the outcomes of this host's connections to an address; empty if it has tried none."""
    return [item["outcome"] for item in facts.data.get("tcp", ()) if item["address"] == address]


def _is_heard(outcomes: Sequence[str]) -> bool:
    """Return whether a port has answered: a refused connection also shows that the host runs."""
    return "open" in outcomes or "refused" in outcomes


def _connection(subject: Subject, flow: FlowExpectation, outcome: str) -> LinkResult:
    if outcome == "open":
        return subject.passed(f"open: {flow.why}")
    if outcome == "refused":
        if not flow.listens:
            return subject.passed(f"no program listens now, and nothing blocks it: {flow.why}")
        return subject.fault("service-not-listening", f"refused: {flow.why}")
    if outcome == "timeout":
        return subject.fault("port-blocked", f"no answer: {flow.why}")
    return subject.fault("port-unreachable", f"{outcome}: {flow.why}")


def _answered(name: NameExpectation, item: Mapping[str, Any]) -> bool:
    if item["code"] != _NO_ERROR:
        return False
    return item["answers"] > 0 if name.address is None else name.address in item["addresses"]


def _name(subject: Subject, name: NameExpectation, item: Mapping[str, Any], other_way: bool) -> LinkResult:
    if _answered(name, item):
        return subject.passed(", ".join(item["addresses"]) or "the zone is served")
    text = f"response code {item['code']}" if item["code"] is not None else f"no answer ({item['error']})"
    if item["code"] == _NO_ERROR:
        text = f"another answer: {', '.join(item['addresses']) or 'none'}"
    if other_way:
        return subject.fault("dns-one-way", text)
    return subject.fault("dns-no-answer" if item["code"] is None else "dns-wrong-answer", text)


def _tracking(data: Mapping[str, Any]) -> tuple[float, bool] | None:
    """Return offset and synchronisation of `chronyc -c tracking`; None if it did not answer."""
    program = data.get("programs", {}).get("tracking")
    fields = program["out"].strip().split(",") if program is not None and program["code"] == 0 else []
    try:
        return float(fields[_OFFSET]), fields[_LEAP] != "Not synchronised"
    except (IndexError, ValueError):
        return None
