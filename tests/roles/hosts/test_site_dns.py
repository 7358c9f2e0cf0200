"""The site's name servers: what they are told, and two sites' servers asking one another on real machines."""

import json
import shlex
import sys
from collections.abc import Iterator, Mapping
from ipaddress import IPv4Address, IPv4Network
from pathlib import Path
from typing import Any

import pytest

from landbridge.plan.ansible.inventory import inventory
from landbridge.plan.outputs import StackOutputs
from sandbox.nspawn import cleanup
from sandbox.nspawn import lab as whole
from sandbox.nspawn.layout import Layout, layout
from sandbox.nspawn.machine import image_builder, nodes
from sandbox.nspawn.site import Machine, plan
from tests.roles.playbooks.test_inventory import OUTPUTS
from tests.unit.core.samples import environment

POOL = ("aws", "pools", 0, "capacity")
TWO = [{"kind": "on_demand", "zones": ["use1-az4", "use1-az6"]}]
DNS = {"zone": "aws.cluster.internal", "zone_id": "Z1", "inbound_addresses": ["10.60.32.9", "10.60.64.9"]}
#: Asks a name server as a host would, with nothing installed: prints the answer's code, and the addresses or the name in it.
ASK = """import socket, struct, sys
server, name, kind = sys.argv[1:]
if kind == "PTR":
    name = ".".join(reversed(name.split("."))) + ".in-addr.arpa"
labels = lambda text: b"".join(bytes([len(part)]) + part.encode() for part in text.split(".")) + b"\\0"
query = struct.pack(">HHHHHH", 7, 0x100, 1, 0, 0, 0) + labels(name) + struct.pack(">HH", 1 if kind == "A" else 12, 1)
with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asking:
    asking.settimeout(8)
    asking.sendto(query, (server, 53))
    said = asking.recv(4096)
def read(at):
    parts = []
    while said[at]:
        if said[at] >= 192:
            return parts + read(struct.unpack(">H", said[at:at + 2])[0] & 0x3FFF)
        parts.append(said[at + 1:at + 1 + said[at]].decode())
        at += said[at] + 1
    return parts
found, at = [], len(query)
for _ in range(struct.unpack(">H", said[6:8])[0]):
    kind_, length = struct.unpack(">H", said[at + 2:at + 4])[0], struct.unpack(">H", said[at + 10:at + 12])[0]
    at += 12
    found.append(socket.inet_ntoa(said[at:at + 4]) if kind_ == 1 else ".".join(read(at)))
    at += length
print(said[3] & 15, *found)"""


def variables(dns: Mapping[str, Any], outputs: Mapping[str, Any] | None = None) -> dict[str, Any]:
    said = StackOutputs.model_validate_json(json.dumps({**OUTPUTS, **outputs})) if outputs is not None else None
    return inventory(environment({POOL: TWO, ("dns",): dns}), said)


def test_hosts_become_name_servers_only_where_names_are_asked_for() -> None:
    plain = inventory(environment())
    assert plain["site_dns"] == {"hosts": [], "vars": {}}
    assert variables({})["site_dns"]["hosts"] == ["ctl01", "gw01"]
    assert variables({"servers": ["db01"]})["site_dns"]["hosts"] == ["db01"]
    assert variables({"resolvers": ["10.20.0.53"]})["site_dns"] == {"hosts": [], "vars": {}}


def test_a_server_answers_for_the_site_and_forwards_what_aws_answers() -> None:
    data = variables({"upstream": ["10.20.9.53"]}, {"dns": DNS})
    told = data["site_dns"]["vars"]
    assert told["site_dns_zones"] == ["cluster.internal", "20.10.in-addr.arpa"]
    assert {"name": "ctl01.cluster.internal", "address": "10.20.0.11"} in told["site_dns_records"]
    assert told["site_dns_clients"] == ["10.20.0.0/16", "10.60.0.0/16"] and told["site_dns_upstream"] == ["10.20.9.53"]
    forwards = {one["domain"]: one["servers"] for one in told["site_dns_forwards"]}
    assert {"aws.cluster.internal", "secretsmanager.us-east-1.amazonaws.com", "60.10.in-addr.arpa"} <= set(forwards)
    assert all(servers == DNS["inbound_addresses"] for servers in forwards.values())
    listen = {name: own.get("site_dns_listen") for name, own in data["_meta"]["hostvars"].items()}
    assert listen["gw01"] == ["10.20.0.1"] and listen["ctl01"] == ["10.20.0.11"] and listen["db01"] is None


def test_before_the_stack_is_there_nothing_is_forwarded() -> None:
    assert "site_dns_forwards" not in variables({})["site_dns"]["vars"]


SITE = plan(
    IPv4Network("10.30.0.0/16"),
    IPv4Network("10.70.0.0/16"),
    IPv4Address("203.0.113.10"),
    (Machine("gw01", "10.30.0.1", gateway=True), Machine("ns01", "10.30.0.53"), Machine("host01", "10.30.0.99")),
)
#: The site's server, and one that stands for AWS's end: as the inbound endpoint, it answers for the zone.
OURS = {
    "site_dns_listen": ["10.30.0.1"],
    "site_dns_clients": ["10.30.0.0/16"],
    "site_dns_zones": ["cluster.internal", "30.10.in-addr.arpa"],
    "site_dns_records": [{"name": "ctl01.cluster.internal", "address": "10.30.0.11"}],
    "site_dns_forwards": [
        {"domain": "aws.cluster.internal", "servers": ["10.30.0.53"]},
        {"domain": "70.10.in-addr.arpa", "servers": ["10.30.0.53"]},
    ],
}
THEIRS = {
    "site_dns_listen": ["10.30.0.53"],
    "site_dns_clients": ["10.30.0.1/32"],
    "site_dns_zones": ["aws.cluster.internal", "70.10.in-addr.arpa"],
    "site_dns_records": [{"name": "scratch.aws.cluster.internal", "address": "10.70.1.5"}],
    "site_dns_forwards": [{"domain": "cluster.internal", "servers": ["10.30.0.1"]}],
}
PLAYBOOK = "- hosts: all\n  gather_facts: false\n  roles: [site_dns]\n"


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Layout]:
    chosen = layout("landbridge-dns")
    cleanup.down(chosen)
    whole.up(chosen, SITE, lambda line: print(f"  {line}", file=sys.stderr))
    playbook = tmp_path_factory.mktemp("play") / "site_dns.yml"
    playbook.write_text(PLAYBOOK)
    configure(chosen, playbook)
    # A second run finds everything as it should be.
    assert all("changed=0 " in line for line in configure(chosen, playbook))
    yield chosen
    cleanup.down(chosen)


def configure(lab: Layout, playbook: Path) -> list[str]:
    told: list[str] = []
    for host, address, own in (("gw01", "10.30.0.1", OURS), ("ns01", "10.30.0.53", THEIRS)):
        image_builder.run_playbook(lab, playbook, {host: address}, own, told.append)
    return told


def ask(lab: Layout, server: str, name: str, kind: str = "A", host: str = "host01") -> str:
    done = nodes.exec(lab, host, [shlex.join(["python3", "-c", ASK, server, name, kind])], timeout=300)
    assert done.returncode == 0, done.stderr
    return str(done.stdout).strip()


@pytest.mark.lab
@pytest.mark.timeout(600)
def test_each_site_gets_the_others_names(lab: Layout) -> None:
    ours, theirs = "10.30.0.1", "10.30.0.53"
    assert ask(lab, ours, "ctl01.cluster.internal") == "0 10.30.0.11"
    assert ask(lab, ours, "10.30.0.11", "PTR") == "0 ctl01.cluster.internal"
    # Below a domain of ours, and under a private range that resolvers answer "no such name" for by themselves.
    assert ask(lab, ours, "scratch.aws.cluster.internal") == "0 10.70.1.5"
    assert ask(lab, ours, "10.70.1.5", "PTR") == "0 scratch.aws.cluster.internal"
    assert ask(lab, theirs, "ctl01.cluster.internal", host="gw01") == "0 10.30.0.11"
    # What neither has does not exist (3); who may not ask is refused (5).
    assert ask(lab, ours, "nobody.cluster.internal") == "3"
    assert ask(lab, ours, "nobody.aws.cluster.internal") == "3"
    assert ask(lab, theirs, "scratch.aws.cluster.internal") == "5"
