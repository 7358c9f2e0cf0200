"""Diagnosis of the link on recorded facts: each fault has its cause, and a missing fact never passes."""

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from landbridge.catalog.link import link_facts
from landbridge.ops.netcheck.collect import HostFacts
from landbridge.ops.netcheck.result import LinkReport
from landbridge.plan.site.link.flows import FlowExpectation
from tests.unit.ops.netcheck import records
from tests.unit.ops.netcheck.records import GATEWAY, NODE, SERVICE

EXPECTED = records.expectations()
KERNEL = records.expectations(datapath="kernel")


def cause_of(fault: str) -> str:
    """Return the cause of a recorded fault: its name may have words after it."""
    return next(cause for cause in sorted(link_facts().causes, key=len, reverse=True) if fault.startswith(cause))


def statuses(report: LinkReport) -> dict[tuple[str, str, str], str]:
    return {(result.check, result.host, result.subject): result.status for result in report.results}


def test_a_healthy_link_has_no_finding_and_every_fact_is_judged() -> None:
    report = records.report(EXPECTED, records.healthy(EXPECTED))
    assert (report.status, report.causes, report.not_asked) == ("passed", (), ())
    checks = {result.check for result in report.results}
    assert checks == {
        "tunnel", "bgp", "prefix", "route", "clear-text", "forwarding", "return-path", "mss", "mtu", "latency", "flow",
        "dns", "clock",
    }  # fmt: skip


@pytest.mark.parametrize("fault", records.faults())
def test_a_recorded_fault_has_its_cause_and_no_other(fault: str) -> None:
    report = records.report(EXPECTED, records.broken(EXPECTED, fault))
    assert report.causes == (cause_of(fault),)
    facts = link_facts().causes[report.causes[0]]
    assert report.status == ("failed" if facts.severity == "error" else "warning")
    named = next(result for result in report.results if result.cause)
    assert named.message and named.fix == facts.fix


def test_two_tunnels_in_the_kernel_pass() -> None:
    report = records.report(KERNEL, records.in_kernel(KERNEL))
    assert (report.status, report.causes) == ("passed", ())
    assert {result.subject for result in report.results if result.check == "nat"} == {"aws1", "aws2"}


def nat(every: dict[str, HostFacts]) -> dict[str, HostFacts]:
    sas = records.text(every[GATEWAY], "sas").replace("encr-alg", "nat-local=yes nat-any=yes encr-alg", 1)
    return {**every, GATEWAY: records.output(every[GATEWAY], sas=sas)}


def one_tunnel(every: dict[str, HostFacts]) -> dict[str, HostFacts]:
    first, _, reply = records.text(every[GATEWAY], "sas").splitlines()
    sas = f"{first}\n{reply}\n"
    failed = "initiating IKE_SA aws2[7] to 198.51.100.21\nestablishing IKE_SA failed, peer not responding\n"
    log = records.text(every[GATEWAY], "log") + failed
    return {**every, GATEWAY: records.output(every[GATEWAY], sas=sas, log=log)}


def no_reason(every: dict[str, HostFacts]) -> dict[str, HostFacts]:
    return {**every, GATEWAY: records.output(every[GATEWAY], sas="list-sas reply {}\n", log="")}


def path(every: dict[str, HostFacts], **values: Any) -> dict[str, HostFacts]:
    first, *others = every[GATEWAY].data["paths"]
    return {**every, GATEWAY: records.changed(every[GATEWAY], {"paths": [{**first, **values}, *others]})}


def interface(every: dict[str, HostFacts]) -> dict[str, HostFacts]:
    links = records.text(every[GATEWAY], "links").replace('"mtu": 1400', '"mtu": 1300')
    return {**every, GATEWAY: records.output(every[GATEWAY], links=links)}


def unreachable(every: dict[str, HostFacts]) -> dict[str, HostFacts]:
    tcp = [{**item, "outcome": "No route to host"} for item in every[NODE].data["tcp"]]
    return {**every, NODE: records.changed(every[NODE], {"tcp": tcp})}


def dns(every: dict[str, HostFacts], **values: Any) -> dict[str, HostFacts]:
    return {
        name: records.changed(facts, {"dns": [{**item, "addresses": [], **values} for item in facts.data["dns"]]})
        for name, facts in every.items()
    }


def skewed(every: dict[str, HostFacts]) -> dict[str, HostFacts]:
    return {**every, SERVICE: replace(every[SERVICE], clock=-500.0)}


def slow(every: dict[str, HostFacts]) -> dict[str, HostFacts]:
    received = {"sender": NODE, "bytes": 10**8, "seconds": 10.0, "connections": 8}
    return {**every, SERVICE: records.changed(every[SERVICE], {"throughput": [received]})}


def unshared(every: dict[str, HostFacts]) -> dict[str, HostFacts]:
    host = every[GATEWAY].host
    assert host.gateway is not None
    host = replace(host, gateway=replace(host.gateway, shared_address="10.20.0.9"))
    return {**every, GATEWAY: replace(every[GATEWAY], host=host)}


def alone(every: dict[str, HostFacts]) -> dict[str, HostFacts]:
    host = every[GATEWAY].host
    assert host.gateway is not None
    host = replace(host, gateway=replace(host.gateway, inside_neighbors=("10.20.0.2",)))
    neighbors = json.loads(records.text(every[GATEWAY], "neighbors"))
    neighbors["10.20.0.2"] = {"remoteAs": 65010, "bgpState": "Active"}
    return {**every, GATEWAY: records.output(replace(every[GATEWAY], host=host), neighbors=json.dumps(neighbors))}


def certified(every: dict[str, HostFacts], days: float) -> dict[str, HostFacts]:
    """Return the facts of a gateway whose certificate ends in some days, with an alarm three weeks before."""
    host = every[GATEWAY].host
    assert host.gateway is not None
    host = replace(host, gateway=replace(host.gateway, certificate="gw01.test", alarm_days=21))
    end = datetime.fromtimestamp(every[GATEWAY].data["time"], UTC) + timedelta(days=days)
    # As `openssl x509 -noout -subject -nameopt multiline -enddate` prints it.
    shown = f"subject=\n    commonName                = gw01.test\nnotAfter={end:%b %d %H:%M:%S %Y} GMT\n"
    return {**every, GATEWAY: records.output(replace(every[GATEWAY], host=host), certificate=shown)}


OTHER_FAULTS = {
    "certificate-ends-soon": (lambda every: certified(every, 10), {"certificate-ends-soon"}),
    "certificate-expired of the gateway": (lambda every: certified(every, -1), {"certificate-expired"}),
    "nat-between": (nat, {"nat-between"}),
    "one-tunnel": (one_tunnel, {"one-tunnel", "ike-no-answer"}),
    "tunnel-down": (no_reason, {"tunnel-down"}),
    "mtu-smaller": (lambda every: path(every, largest=1300, reported=1300), {"mtu-smaller"}),
    "mtu-of-interface": (interface, {"mtu-of-interface"}),
    "slow-link": (lambda every: path(every, milliseconds=[230.0, 250.0]), {"slow-link"}),
    "inside-bgp-down": (alone, {"inside-bgp-down"}),
    "shared-address": (unshared, {"shared-address"}),
    "low-throughput": (slow, {"low-throughput"}),
    "port-unreachable": (unreachable, {"port-unreachable"}),
    "dns-no-answer": (lambda every: dns(every, code=None, answers=0, error="timed out"), {"dns-no-answer"}),
    "dns-wrong-answer": (lambda every: dns(every, code=3, answers=0), {"dns-wrong-answer"}),
    "clock-skew": (skewed, {"clock-skew"}),
}


@pytest.mark.parametrize("fault", OTHER_FAULTS)
def test_a_fault_that_the_lab_cannot_make_has_its_cause(fault: str) -> None:
    change, causes = OTHER_FAULTS[fault]
    report = records.report(KERNEL, change(records.in_kernel(KERNEL)))
    assert set(report.causes) == causes


def test_every_cause_of_the_catalogue_is_shown_by_a_test() -> None:
    assert {cause_of(fault) for fault in (*records.faults(), *OTHER_FAULTS)} == set(link_facts().causes)


def test_a_valid_certificate_passes_and_one_of_another_name_does_not() -> None:
    valid = certified(records.in_kernel(KERNEL), 60)
    report = records.report(KERNEL, valid)
    assert report.causes == () and ("certificate", GATEWAY, "gw01.test") in statuses(report)
    other = records.text(valid[GATEWAY], "certificate").replace("gw01.test", "gw02.test")
    wrong = {**valid, GATEWAY: records.output(valid[GATEWAY], certificate=other)}
    assert records.report(KERNEL, wrong).causes == ("certificate-untrusted",)


PROGRAMS = sorted(records.healthy(EXPECTED)[GATEWAY].data["programs"])


@pytest.mark.parametrize("state", ["absent", "failed", "unreadable"])
@pytest.mark.parametrize("program", PROGRAMS)
def test_a_missing_fact_is_not_judged_and_never_passes(program: str, state: str) -> None:
    every = records.healthy(EXPECTED)
    values = {
        "absent": None,
        "failed": {"code": 1, "out": "", "err": "permission denied"},
        "unreadable": {"code": 0, "out": "%", "err": ""},
    }
    every[GATEWAY] = records.changed(every[GATEWAY], {"programs": {program: values[state]}})
    before, report = records.report(EXPECTED, records.healthy(EXPECTED)), records.report(EXPECTED, every)
    # The log is read only if a tunnel is down, and the received routes only if a prefix is not accepted.
    unused = program == "log" or program.startswith("received-routes")
    assert report.status == ("passed" if unused else "not judged")
    passed = {key for key, status in statuses(report).items() if status == "passed"}
    assert unused or passed < {key for key, status in statuses(before).items() if status == "passed"}
    assert report.causes == ()


def test_a_host_without_facts_is_not_judged() -> None:
    every = records.healthy(EXPECTED)
    every[GATEWAY] = replace(every[GATEWAY], data={}, error="Connection timed out")
    report = records.report(EXPECTED, every)
    assert report.status == "not judged"
    assert any("Connection timed out" in result.message for result in report.results)


def test_a_run_names_the_parts_that_no_host_could_try() -> None:
    every = records.healthy(EXPECTED)
    del every[NODE]
    assert any("--from" in sentence for sentence in records.report(EXPECTED, every).not_asked)


@pytest.mark.parametrize(
    ("outcomes", "causes", "is_silent"),
    [
        (("timeout", "timeout"), (), True),
        (("No route to host", "timeout"), (), True),
        (("open", "refused"), (), False),
        (("refused", "refused"), (), False),
        (("open", "timeout"), ("port-blocked",), False),
        # The host that may connect has tried nothing, such as one without facts.
        ((), (), False),
    ],
)
def test_a_host_that_may_be_stopped_is_judged_if_one_of_its_ports_answers(
    outcomes: tuple[str, ...], causes: tuple[str, ...], is_silent: bool
) -> None:
    flows = [
        FlowExpectation("onprem", "serve-az4-01", "10.60.9.9", "tcp", port, False, "models", SERVICE, True)
        for port in (8500, 8501)
    ]
    every = records.healthy(EXPECTED)
    tried = [
        {"address": "10.60.9.9", "port": flow.port, "outcome": outcome}
        for flow, outcome in zip(flows, outcomes, strict=False)
    ]
    every[SERVICE] = records.changed(every[SERVICE], {"tcp": [*every[SERVICE].data["tcp"], *tried]})
    report = records.report(replace(EXPECTED, flows=(*EXPECTED.flows, *flows)), every)
    assert report.causes == causes
    assert any("serve-az4-01" in sentence for sentence in report.not_asked) == is_silent
