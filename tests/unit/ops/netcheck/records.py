"""Facts of a link's hosts, recorded from strongSwan 6.0.1, FRR 10.3, nftables, unbound and chrony on Debian 13.

healthy.json has the facts of a gateway, a service host and a node in AWS without a fault. Each other file has what one fault
changed; its name begins with the fault's cause. Tunnels ran in user space (the kernel of the lab had no ESP): the facts of two
tunnels in the kernel are made from the recorded ones.
"""

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from landbridge.environment import Environment
from landbridge.ops.netcheck.collect import HostFacts
from landbridge.ops.netcheck.diagnose import diagnose
from landbridge.ops.netcheck.record import read_facts
from landbridge.ops.netcheck.result import LinkReport
from landbridge.plan.outputs import StackOutputs
from landbridge.plan.site.link.expectations import LinkExpectations, link_expectations
from tests.roles.playbooks.test_inventory import OUTPUTS
from tests.unit.core.samples import environment as sample

RECORDED = Path(__file__).parent / "recorded"
GATEWAY, SERVICE, NODE = "gw01", "ctl01", "root@10.60.1.21"
#: One host has every service.
SERVICES = {"controller": [SERVICE], "login": [SERVICE], "gateway": GATEWAY} | dict.fromkeys(
    ("database", "storage", "mlops"), SERVICE
)
LINK = {"kind": "vpn", "gateway_address": "198.51.100.10", "onprem_asn": 65010, "datapath": "userspace"}
CHANGES: dict[Any, Any] = {("link",): LINK, ("onprem", "services"): SERVICES}
OUTPUT_VALUES: dict[str, Any] = {
    **OUTPUTS,
    "cluster": "test",
    "dns": {"zone": "aws.cluster.internal", "zone_id": "Z1", "inbound_addresses": ["10.60.0.1"]},
}
STACK_OUTPUTS = StackOutputs.model_validate_json(json.dumps(OUTPUT_VALUES))


def environment(**link: Any) -> Environment:
    return sample({**CHANGES, ("dns",): {}, ("link",): {**LINK, **link}})


def expectations(**link: Any) -> LinkExpectations:
    return link_expectations(environment(**link), STACK_OUTPUTS)


def healthy(expected: LinkExpectations) -> dict[str, HostFacts]:
    return {facts.host.name: facts for facts in read_facts(RECORDED / "healthy.json", expected)}


def faults() -> list[str]:
    """Return the names of the recorded faults."""
    return sorted(path.stem for path in RECORDED.glob("*.json") if path.stem != "healthy")


def broken(expected: LinkExpectations, fault: str) -> dict[str, HostFacts]:
    """Return the healthy facts with what a fault changed."""
    every = healthy(expected)
    for name, changes in json.loads((RECORDED / f"{fault}.json").read_text()).items():
        every[name] = changed(every[name], changes)
    return every


def changed(facts: HostFacts, changes: Mapping[str, Any]) -> HostFacts:
    """Return facts with other output of some programs, or with other values of other keys."""
    programs = {**facts.data["programs"], **changes.get("programs", {})}
    return replace(facts, data={**facts.data, **changes, "programs": programs})


def output(facts: HostFacts, **programs: str) -> HostFacts:
    """Return facts with other output of programs, which ended without an error."""
    return changed(facts, {"programs": {key: {"code": 0, "out": text, "err": ""} for key, text in programs.items()}})


def text(facts: HostFacts, program: str) -> str:
    return str(facts.data["programs"][program]["out"])


def report(expected: LinkExpectations, every: Mapping[str, HostFacts]) -> LinkReport:
    return diagnose(expected, tuple(every.values()))


def in_kernel(expected: LinkExpectations) -> dict[str, HostFacts]:
    """Return the healthy facts of two tunnels in the kernel, made from those of one in user space."""
    every = healthy(expected)
    words = json.dumps(every[GATEWAY].data).replace("ipsec0", "aws1").replace("nat-remote=yes nat-any=yes ", "")
    first = replace(every[GATEWAY], data=json.loads(words))
    second = replace(first, data=json.loads(_second(words)))
    both = {
        "sas": f"{_event(first)}\n{_event(second)}\nlist-sas reply {{}}\n",
        "neighbors": json.dumps({**_json(first, "neighbors"), **_json(second, "neighbors")}),
        "routes": json.dumps([*_json(first, "routes"), *_json(second, "routes")]),
        "links": json.dumps([*_json(first, "links"), *_json(second, "links")]),
        "rules": json.dumps({"nftables": _json(first, "rules")["nftables"] + _json(second, "rules")["nftables"]}),
    }
    gateway = output(first, **both)
    others = {name: value for name, value in second.data["programs"].items() if name.endswith(" 169.254.11.1")}
    gateway = changed(gateway, {"programs": others, "paths": [*first.data["paths"], *second.data["paths"]]})
    gateway = changed(gateway, {"files": {**first.data["files"], **second.data["files"]}})
    return {**every, GATEWAY: gateway}


def _second(words: str) -> str:
    for old, new in (("aws1", "aws2"), ("169.254.10.", "169.254.11."), ("198.51.100.20", "198.51.100.21")):
        words = words.replace(old, new)
    return words


def _json(facts: HostFacts, program: str) -> Any:
    return json.loads(text(facts, program))


def _event(facts: HostFacts) -> str:
    return text(facts, "sas").splitlines()[0]
