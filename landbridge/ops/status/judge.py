"""Judgement of the state: facts of the hosts and the environment give lines and tasks. Pure."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from landbridge.environment import Environment
from landbridge.ops.netcheck.collect import HostFacts
from landbridge.ops.netcheck.gateway_facts import GatewayFacts, MissingFactError
from landbridge.ops.status import facts
from landbridge.ops.status.burst import burst_judged
from landbridge.ops.status.cluster import node_judged, queue_judged
from landbridge.ops.status.link import link_judged
from landbridge.ops.status.report import Judged, StatusLine, StatusReport, report_of
from landbridge.ops.status.site import (
    authority_judged,
    certificate_judged,
    dumps_judged,
    hosts_judged,
    logins_judged,
    nodes_left_out,
    units_judged,
)
from landbridge.ops.status.sources import programs_of
from landbridge.timestamps import iso


@dataclass(frozen=True, slots=True)
class _Reading:
    """Value of a fact by host, the reasons of hosts that could not give it, and the hosts that did not answer."""

    values: Mapping[str, Any]
    reasons: tuple[str, ...]
    silent: tuple[str, ...]

    @property
    def missing(self) -> tuple[str, ...]:
        """Return why the fact is missing, a sentence for each host."""
        return (*self.reasons, *(f"{host}: no answer" for host in self.silent))


@dataclass(frozen=True, slots=True)
class _Fact:
    """Fact of a program's output. `once`: any one host is enough; `judged` takes the host and the value."""

    area: str
    parser: Callable[[str], Any]
    judged: Callable[[str, Any], Judged]
    once: bool = False


def judge(environment: Environment, every: Sequence[HostFacts], now: float) -> StatusReport:
    """Return the report of an environment. The facts of a host that did not answer are `not read`."""
    answered = sum(not host.error for host in every)
    return report_of(environment.name, iso(now), answered, _judged(environment, every, now))


def _judged(environment: Environment, every: Sequence[HostFacts], now: float) -> Judged:
    yield from hosts_judged(environment.name, every)
    yield from link_judged(environment, every)
    if environment.aws.pools:
        samples = _reading(environment, "burst", facts.burst_samples, every)
        if samples.values or samples.reasons:
            yield from burst_judged(environment, tuple(samples.values.values()), samples.reasons, now)
        else:
            yield from (StatusLine("burst", "not read", reason) for reason in samples.missing)
    for name, fact in _facts(environment, now).items():
        yield from _of_fact(fact, _reading(environment, name, fact.parser, every))
    yield from nodes_left_out(environment)


def _facts(environment: Environment, now: float) -> dict[str, _Fact]:
    name = environment.name
    return {
        "failed units": _Fact("sites", facts.failed_units, units_judged),
        "logins": _Fact("sites", str.split, partial(logins_judged, environment)),
        "queue": _Fact("queue", facts.queue_facts, lambda _, queue: queue_judged(queue, now), once=True),
        "nodes": _Fact("nodes", json.loads, lambda _, answer: node_judged(name, answer), once=True),
        "dumps": _Fact("backups", facts.dump_facts, partial(dumps_judged, now=now)),
        "certificate": _Fact("certificates", facts.certificate_end, partial(certificate_judged, name, now=now)),
        "authority": _Fact("certificates", facts.certificate_end, lambda _, end: authority_judged(name, end, now)),
    }


def _of_fact(fact: _Fact, reading: _Reading) -> Judged:
    values = list(reading.values.items())
    for host, value in values[:1] if fact.once else values:
        yield from fact.judged(host, value)
    if not (fact.once and values):
        for reason in reading.reasons if fact.area == "sites" else reading.missing:
            yield StatusLine(fact.area, "not read", reason)


def _reading(environment: Environment, name: str, parser: Callable[[str], Any], every: Sequence[HostFacts]) -> _Reading:
    """Return a fact of each host that has to give it."""
    values, reasons, silent = dict[str, Any](), list[str](), list[str]()
    for host in every:
        if name not in programs_of(environment, host.host):
            continue
        if host.error:
            silent.append(host.host.name)
            continue
        try:
            values[host.host.name] = GatewayFacts(host.data).parsed(name, parser)
        except MissingFactError as error:
            reasons.append(f"{host.host.name}: {error}")
    return _Reading(values, tuple(reasons), tuple(silent))
