"""The site's DNS servers: their variables, and the servers of two sites that query each other on real machines."""

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
#: Minimal DNS client: prints the response code, and the addresses or the name in the response.
ASK = """import socket, struct, sys
server, name, kind = sys.argv[1:]
if kind == "PTR":
    name = ".".join(reversed(name.split("."))) + ".in-addr.arpa"
labels = lambda text: b"".join(bytes([len(part)]) + part.encode() for part in text.split(".")) + b"\\0"
query = struct.pack(">HHHHHH", 7, 0x100, 1, 0, 0, 0) + labels(name) + struct.pack(">HH", 1 if kind == "A" else 12, 1)
with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as client:
    client.settimeout(8)
    client.sendto(query, (server, 53))
    response = client.recv(4096)
def read(at):
    parts = []
    while response[at]:
        if response[at] >= 192:
            return parts + read(struct.unpack(">H", response[at:at + 2])[0] & 0x3FFF)
        parts.append(response[at + 1:at + 1 + response[at]].decode())
        at += response[at] + 1
    return parts
records, at = [], len(query)
for _ in range(struct.unpack(">H", response[6:8])[0]):
    record, length = struct.unpack(">H", response[at + 2:at + 4])[0], struct.unpack(">H", response[at + 10:at + 12])[0]
    at += 12
    records.append(socket.inet_ntoa(response[at:at + 4]) if record == 1 else ".".join(read(at)))
    at += length
print(response[3] & 15, *records)"""


def variables(dns: Mapping[str, Any], outputs: Mapping[str, Any] | None = None) -> dict[str, Any]:
    stack_outputs = (
        StackOutputs.model_validate_json(json.dumps({**OUTPUTS, **outputs})) if outputs is not None else None
    )
    return inventory(environment({POOL: TWO, ("dns",): dns}), stack_outputs)


def test_hosts_become_dns_servers_only_if_dns_is_configured() -> None:
    plain = inventory(environment())
    assert plain["site_dns"] == {"hosts": [], "vars": {}}
    assert variables({})["site_dns"]["hosts"] == ["ctl01", "gw01"]
    assert variables({"servers": ["db01"]})["site_dns"]["hosts"] == ["db01"]
    assert variables({"resolvers": ["10.20.0.53"]})["site_dns"] == {"hosts": [], "vars": {}}


def test_a_server_answers_for_the_site_and_forwards_names_of_aws() -> None:
    data = variables({"upstream": ["10.20.9.53"]}, {"dns": DNS})
    server_variables = data["site_dns"]["vars"]
    assert server_variables["site_dns_zones"] == ["cluster.internal", "20.10.in-addr.arpa"]
    assert {"name": "ctl01.cluster.internal", "address": "10.20.0.11"} in server_variables["site_dns_records"]
    assert server_variables["site_dns_clients"] == ["10.20.0.0/16", "10.60.0.0/16"] and server_variables[
        "site_dns_upstream"
    ] == ["10.20.9.53"]
    forwards = {forward["domain"]: forward["servers"] for forward in server_variables["site_dns_forwards"]}
    assert {"aws.cluster.internal", "secretsmanager.us-east-1.amazonaws.com", "60.10.in-addr.arpa"} <= set(forwards)
    assert all(servers == DNS["inbound_addresses"] for servers in forwards.values())
    listen = {name: host_variables.get("site_dns_listen") for name, host_variables in data["_meta"]["hostvars"].items()}
    assert listen["gw01"] == ["10.20.0.1"] and listen["ctl01"] == ["10.20.0.11"] and listen["db01"] is None


def test_without_stack_outputs_nothing_is_forwarded() -> None:
    assert "site_dns_forwards" not in variables({})["site_dns"]["vars"]


SITE = plan(
    IPv4Network("10.30.0.0/16"),
    IPv4Network("10.70.0.0/16"),
    IPv4Address("203.0.113.10"),
    (Machine("gw01", "10.30.0.1", gateway=True), Machine("ns01", "10.30.0.53"), Machine("host01", "10.30.0.99")),
)
#: The site's server, and a stand-in for the Resolver inbound endpoint in AWS, which answers for the zone.
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
    # A second run changes nothing.
    assert all("changed=0 " in line for line in configure(chosen, playbook))
    yield chosen
    cleanup.down(chosen)


def configure(lab: Layout, playbook: Path) -> list[str]:
    lines: list[str] = []
    for host, address, server_variables in (("gw01", "10.30.0.1", OURS), ("ns01", "10.30.0.53", THEIRS)):
        image_builder.run_playbook(lab, playbook, {host: address}, server_variables, lines.append)
    return lines


def ask(lab: Layout, server: str, name: str, kind: str = "A", host: str = "host01") -> str:
    completed = nodes.exec(lab, host, [shlex.join(["python3", "-c", ASK, server, name, kind])], timeout=300)
    assert completed.returncode == 0, completed.stderr
    return str(completed.stdout).strip()


@pytest.mark.lab
def test_each_site_resolves_the_others_names(lab: Layout) -> None:
    ours, theirs = "10.30.0.1", "10.30.0.53"
    assert ask(lab, ours, "ctl01.cluster.internal") == "0 10.30.0.11"
    assert ask(lab, ours, "10.30.0.11", "PTR") == "0 ctl01.cluster.internal"
    # In a subdomain of the site's zone, and in a private range for which resolvers by default answer "no such name".
    assert ask(lab, ours, "scratch.aws.cluster.internal") == "0 10.70.1.5"
    assert ask(lab, ours, "10.70.1.5", "PTR") == "0 scratch.aws.cluster.internal"
    assert ask(lab, theirs, "ctl01.cluster.internal", host="gw01") == "0 10.30.0.11"
    # A name in neither zone does not exist (3); a client without permission is refused (5).
    assert ask(lab, ours, "nobody.cluster.internal") == "3"
    assert ask(lab, ours, "nobody.aws.cluster.internal") == "3"
    assert ask(lab, theirs, "scratch.aws.cluster.internal") == "5"
