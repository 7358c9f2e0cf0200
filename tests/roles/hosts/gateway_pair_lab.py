"""Lab of two gateways of a site: each has a tunnel to its own end in AWS, and both ends route for one node."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from landbridge.environment import Environment
from landbridge.findings import DataPath
from landbridge.plan.ansible.inventory import inventory
from landbridge.plan.outputs import StackOutputs
from sandbox.nspawn.layout import Layout
from sandbox.nspawn.machine.node import LabNode
from sandbox.nspawn.network.bridges import LabBridge, LabInterface
from sandbox.nspawn.site import CLOUD, INTERNET, ONPREM, LabSite
from tests.roles.ansible_run import Played, connection, play
from tests.roles.playbooks.test_inventory import OUTPUTS
from tests.unit.ops.netcheck.records import CHANGES, LINK, SERVICES

SHARED = "10.20.0.9"
HOST, HOST_ADDRESS = "ctl01", "10.20.0.11"
NODE, NODE_ADDRESS = "p5-0", "10.60.1.21"
_OPERATORS = {ONPREM: "10.20.0.254", CLOUD: "10.60.0.254", INTERNET: "198.51.100.254"}


@dataclass(frozen=True)
class TunnelEnds:
    """Both ends of one gateway's tunnel: machines, addresses in the networks behind, outside and in the tunnel."""

    gateway: str
    address: str
    outside: str
    aws: str
    aws_address: str
    aws_outside: str
    inside: str


ENDS = (
    TunnelEnds("gw01", "10.20.0.1", "198.51.100.10", "awsgw1", "10.60.0.1", "198.51.100.20", "169.254.10"),
    TunnelEnds("gw02", "10.20.0.2", "198.51.100.11", "awsgw2", "10.60.0.2", "198.51.100.30", "169.254.12"),
)


def _tunnels(ends: TunnelEnds) -> list[dict[str, str]]:
    tunnel = {
        "outside_address": ends.aws_outside,
        "inside_cidr": f"{ends.inside}.0/30",
        "aws_inside_address": f"{ends.inside}.1",
        "customer_inside_address": f"{ends.inside}.2",
    }
    return [tunnel]


_SECOND = {"customer_gateway_address": ENDS[1].outside, "tunnels": _tunnels(ENDS[1])}
_LINK_OUTPUT = {"aws_asn": 64512, "tunnels": _tunnels(ENDS[0]), "sites": {"onprem-2": _SECOND}}
STACK_OUTPUTS = StackOutputs.model_validate_json(json.dumps({**OUTPUTS, "cluster": "test", "link": _LINK_OUTPUT}))


def changes() -> dict[DataPath, Any]:
    """Return the changes of the sample environment."""
    link = {**LINK, "gateway_address": [ends.outside for ends in ENDS], "shared_address": SHARED, "bgp_hold_seconds": 3}
    return {
        **CHANGES,
        ("link",): link,
        ("onprem", "services"): {**SERVICES, "gateway": [ends.gateway for ends in ENDS]},
        ("onprem", "addresses", "gw02"): ENDS[1].address,
    }


def site(chosen: Environment) -> LabSite:
    """Return the lab's machines."""
    nodes = [_machine(HOST, ONPREM, HOST_ADDRESS, SHARED), _machine(NODE, CLOUD, NODE_ADDRESS, ENDS[0].aws_address)]
    for ends in ENDS:
        nodes += [
            _machine(ends.gateway, ONPREM, ends.address, _OPERATORS[INTERNET], ends.outside),
            _machine(ends.aws, CLOUD, ends.aws_address, _OPERATORS[INTERNET], ends.aws_outside),
        ]
    lengths = {ONPREM: 16, CLOUD: 16, INTERNET: 24}
    bridges = tuple(LabBridge(name, (f"{address}/{lengths[name]}",)) for name, address in _OPERATORS.items())
    return LabSite(bridges, tuple(nodes), chosen.aws.cidr, (_OPERATORS[ONPREM], _OPERATORS[CLOUD]))


def _machine(name: str, bridge: str, address: str, router: str, outside: str = "") -> LabNode:
    nics = [LabInterface(bridge, (f"{address}/16",))]
    nics += [LabInterface(INTERNET, (f"{outside}/24",))] if outside else []
    return LabNode(name, tuple(nics), (f"default via {router}",), operator=_OPERATORS[bridge])


def configure(lab: Layout, chosen: Environment, folder: Path) -> Played:
    """Apply the role site_gateway to both gateways, and with mirrored variables to AWS's ends."""
    plays = [{"hosts": "all", "gather_facts": False, "roles": ["site_gateway"]}]
    return play(lab, folder, plays, {"all": {"hosts": described(lab, chosen)}})


def described(lab: Layout, chosen: Environment, further: Mapping[str, Mapping[str, Any]] = {}) -> dict[str, Any]:
    """Return the variables of both gateways and of AWS's ends, with those of `further` by host."""
    planned = inventory(chosen, STACK_OUTPUTS)
    hosts = {}
    for ends, other, key in ((ENDS[0], ENDS[1], "k" * 32), (ENDS[1], ENDS[0], "l" * 32)):
        ours = planned["site_gateway"]["vars"] | planned["_meta"]["hostvars"][ends.gateway]
        ours |= {"site_gateway_pre_shared_keys": [key]}
        theirs = {name: value for name, value in ours.items() if not name.startswith("site_gateway_shared_")}
        theirs |= {
            "site_gateway_initiator": False,
            "site_gateway_local_address": ends.aws_outside,
            "site_gateway_local_asn": 64512,
            "site_gateway_router_id": ends.aws_address,
            "site_gateway_source_address": "",
            "site_gateway_inside_neighbors": [other.aws_address],
            "site_gateway_advertise": ours["site_gateway_accept"],
            "site_gateway_accept": ours["site_gateway_advertise"],
            "site_gateway_sysctl": {
                "net.ipv4.ip_forward": 1,
                "net.ipv4.conf.all.rp_filter": 0,
                "net.ipv4.conf.default.rp_filter": 0,
                "net.ipv4.conf.all.send_redirects": 0,
                "net.ipv4.conf.eth0.send_redirects": 0,
            },
            "site_gateway_tunnels": [
                {
                    "name": "onprem1",
                    "remote_address": ends.outside,
                    "inside_local": f"{ends.inside}.1",
                    "inside_remote": f"{ends.inside}.2",
                    "remote_asn": 65010,
                }
            ],
        }
        for name, address, values in (
            (ends.gateway, ends.address, ours),
            (ends.aws, ends.aws_address, theirs),
        ):
            hosts[name] = {**values, **further.get(name, {}), "ansible_host": address, **connection(lab)}
    return hosts
