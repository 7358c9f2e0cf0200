"""Lab of a link: the site's gateway with a service host behind it, and AWS's end with a node behind it. All have the
variables of one environment's plan.
"""

import json
from ipaddress import IPv4Address
from pathlib import Path
from typing import Any

from landbridge.environment import Environment
from landbridge.findings import DataPath
from landbridge.plan.ansible.inventory import inventory
from landbridge.plan.outputs import StackOutputs
from sandbox.nspawn.layout import Layout
from sandbox.nspawn.machine.node import LabNode
from sandbox.nspawn.network import netns
from sandbox.nspawn.network.bridges import LabInterface
from sandbox.nspawn.site import AWS_GATEWAY, CLOUD, LabSite, Machine, plan
from tests.roles.ansible_run import Played, connection, play
from tests.roles.playbooks.test_inventory import OUTPUTS
from tests.unit.ops.netcheck.records import CHANGES, GATEWAY, LINK, SERVICE

NODE, NODE_ADDRESS = "p5-0", "10.60.1.21"
STACK_OUTPUTS = StackOutputs.model_validate_json(json.dumps({**OUTPUTS, "cluster": "test"}))


def changes(lab: Layout) -> dict[DataPath, Any]:
    """Return the changes of the sample environment. The operator connects through the lab's network namespace."""
    access = {
        "user": "root",
        "private_key": str(lab.private_key),
        "proxy_command": f"nsenter --net={netns.FOLDER / lab.netns} socat - TCP:%h:%p",
        "known_hosts": "/dev/null",
    }
    return {**CHANGES, ("onprem", "access"): access}


def site(chosen: Environment) -> LabSite:
    """Return the lab's machines."""
    assert chosen.onprem is not None
    planned = plan(
        chosen.onprem.cidr,
        chosen.aws.cidr,
        IPv4Address(str(LINK["gateway_address"])),
        (
            Machine(GATEWAY, str(chosen.onprem.addresses[GATEWAY]), gateway=True),
            Machine(SERVICE, str(chosen.onprem.addresses[SERVICE])),
        ),
    )
    cloud = chosen.aws.cidr
    node = LabNode(
        NODE,
        (LabInterface(CLOUD, (f"{NODE_ADDRESS}/{cloud.prefixlen}",)),),
        (f"default via {cloud.network_address + 1}",),
        operator=planned.nodes[-1].operator,
    )
    return LabSite(planned.bridges, (*planned.nodes, node), planned.cloud, planned.operators)


def configure(lab: Layout, chosen: Environment, folder: Path) -> Played:
    """Apply the role site_gateway to both ends, with mirrored variables on AWS's end."""
    planned = inventory(chosen, STACK_OUTPUTS)
    ours = planned["site_gateway"]["vars"] | {"site_gateway_pre_shared_keys": ["k" * 32, "l" * 32]}
    ours |= {"site_gateway_bgp_keepalive": 1, "site_gateway_bgp_hold": 3}
    assert STACK_OUTPUTS.link is not None
    tunnel = STACK_OUTPUTS.link.tunnels[0]
    far_end = {
        "name": "onprem1",
        "remote_address": ours["site_gateway_local_address"],
        "inside_local": tunnel.aws_inside_address,
        "inside_remote": tunnel.customer_inside_address,
        "remote_asn": ours["site_gateway_local_asn"],
    }
    theirs = ours | {
        "site_gateway_initiator": False,
        "site_gateway_local_address": tunnel.outside_address,
        "site_gateway_local_asn": STACK_OUTPUTS.link.aws_asn,
        "site_gateway_router_id": tunnel.aws_inside_address,
        "site_gateway_source_address": "",
        "site_gateway_advertise": ours["site_gateway_accept"],
        "site_gateway_accept": ours["site_gateway_advertise"],
        "site_gateway_tunnels": [far_end],
    }
    assert chosen.onprem is not None
    addresses = {GATEWAY: str(chosen.onprem.addresses[GATEWAY]), AWS_GATEWAY: str(chosen.aws.cidr.network_address + 1)}
    variables = {GATEWAY: ours, AWS_GATEWAY: theirs}
    hosts = {name: {"ansible_host": addresses[name], **values, **connection(lab)} for name, values in variables.items()}
    plays = [{"hosts": "all", "gather_facts": False, "roles": ["site_gateway"]}]
    return play(lab, folder, plays, {"all": {"hosts": hosts}}).good()
