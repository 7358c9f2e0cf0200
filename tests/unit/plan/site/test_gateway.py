"""Files of the gateways: advertised routes, preference of tunnels, and the two peers of a Direct Connect virtual
interface."""

import os
import re
import subprocess
from ipaddress import IPv4Address
from pathlib import Path
from typing import Any

import jinja2
import yaml
from hypothesis import given
from hypothesis import strategies as st

from landbridge.plan.network.direct_connect import network_of, other_host, peer_prefix

ROLE = Path(__file__).parents[4] / "ansible" / "roles" / "site_gateway"
TUNNEL = {"remote_address": "198.51.100.20", "inside_local": "169.254.10.2", "inside_remote": "169.254.10.1"}
FIRST = {**TUNNEL, "name": "aws1", "remote_asn": 64512}
BACKUP = {
    "name": "aws3",
    "remote_address": "198.51.100.21",
    "inside_local": "169.254.12.2",
    "inside_remote": "169.254.12.1",
    "remote_asn": 64512,
    "local_address": "203.0.113.10",
    "preference": 50,
    "prepend": 2,
}


def rendered(template: str, tunnels: list[dict[str, Any]], **variables: Any) -> list[str]:
    """Return a file of the role as lines."""
    defaults = yaml.safe_load((ROLE / "defaults" / "main.yml").read_text())
    loader = jinja2.FileSystemLoader(ROLE / "templates")
    templates = jinja2.Environment(loader=loader, trim_blocks=True, undefined=jinja2.StrictUndefined)
    settings = {
        "site_gateway_local_address": "10.20.0.1",
        "site_gateway_local_asn": 65010,
        "site_gateway_router_id": "10.20.0.1",
        "site_gateway_advertise": ["10.20.0.0/16"],
        "site_gateway_accept": ["10.60.0.0/16", "10.30.0.0/16"],
        "site_gateway_pre_shared_keys": ["one", "two"],
        "site_gateway_active_tunnels": tunnels,
    }
    values = {**defaults, **settings, "ansible_managed": "", "inventory_hostname": "gw01", **variables}
    return [line.strip() for line in templates.get_template(template).render(values).splitlines()]


def route_map(lines: list[str], name: str) -> list[str]:
    """Return the statements of a route map as lines."""
    start = lines.index(f"route-map {name} permit 10") + 1
    end = next(index for index in range(start, len(lines)) if lines[index].startswith(("route-map", "!")))
    return lines[start:end]


def test_a_backup_tunnel_has_less_preference_and_a_longer_as_path() -> None:
    lines = rendered("frr.conf.j2", [FIRST, BACKUP])
    assert route_map(lines, "RECEIVE-aws1") == ["match ip address prefix-list THEIRS", "set local-preference 100"]
    assert route_map(lines, "SEND-aws1") == ["match ip address prefix-list OURS"]
    assert route_map(lines, "RECEIVE-aws3")[1] == "set local-preference 50"
    assert route_map(lines, "SEND-aws3")[1] == "set as-path prepend 65010 65010"
    for tunnel in (FIRST, BACKUP):
        neighbor = f"neighbor {tunnel['inside_remote']}"
        assert f"{neighbor} route-map SEND-{tunnel['name']} out" in lines
        assert f"{neighbor} route-map RECEIVE-{tunnel['name']} in" in lines


def test_an_internal_router_gets_only_the_routes_of_the_tunnels() -> None:
    without = rendered("frr.conf.j2", [FIRST])
    assert not [line for line in without if "INSIDE" in line]
    lines = rendered("frr.conf.j2", [FIRST], site_gateway_inside_neighbors=["10.20.0.2"])
    assert route_map(lines, "INSIDE") == ["match ip address prefix-list THEIRS"]
    neighbor_lines = [line for line in lines if line.startswith("neighbor 10.20.0.2")]
    assert (
        "neighbor 10.20.0.2 remote-as 65010" in neighbor_lines and "neighbor 10.20.0.2 next-hop-self" in neighbor_lines
    )
    assert {"neighbor 10.20.0.2 route-map INSIDE in", "neighbor 10.20.0.2 route-map INSIDE out"} <= set(neighbor_lines)


def test_connections_of_the_gateway_itself_have_its_address_in_the_site() -> None:
    """AWS has a route to the site's network, and none to the address inside a tunnel."""
    assert not [line for line in rendered("frr.conf.j2", [FIRST]) if "SOURCE" in line]
    lines = rendered("frr.conf.j2", [FIRST], site_gateway_source_address="10.20.0.1")
    assert route_map(lines, "SOURCE") == ["set src 10.20.0.1"]
    assert "ip protocol bgp route-map SOURCE" in lines


def test_a_tunnel_may_have_its_own_local_address() -> None:
    lines = rendered("connections.conf.j2", [FIRST, BACKUP])
    assert [line for line in lines if line.startswith("local_addrs")] == [
        "local_addrs = 10.20.0.1",
        "local_addrs = 203.0.113.10",
    ]
    assert lines.count("id = 10.20.0.1") == 1 and lines.count("id = 203.0.113.10") == 1


#: swanctl's output for two tunnels: the first has an association without a child, the second is complete.
SWANCTL = """#!/bin/sh
case "$*" in
  *--initiate*) echo "$*" >> {log};;
  *"--ike aws2"*) echo 'list-sa event {{aws2 {{state=ESTABLISHED child-sas {{aws2-1 {{name=aws2 state=INSTALLED}}}}}}}}';;
  *"--ike aws1"*) echo 'list-sa event {{aws1 {{state=ESTABLISHED child-sas {{}}}}}}';;
  *) echo 'list-sa event {{aws1 {{state=ESTABLISHED child-sas {{}}}}}}'
     echo 'list-sa event {{aws2 {{state=ESTABLISHED child-sas {{aws2-1 {{name=aws2 state=INSTALLED}}}}}}}}';;
esac
"""


def test_the_watch_initiates_a_tunnel_without_a_child_while_another_is_up(tmp_path: Path) -> None:
    log, second = tmp_path / "log", {**FIRST, "name": "aws2"}
    programs = {"swanctl": SWANCTL.format(log=log), "sleep": f"#!/bin/sh\nmkdir {tmp_path}/once 2>/dev/null\n"}
    for name, text in programs.items():
        (tmp_path / name).write_text(text)
        (tmp_path / name).chmod(0o755)
    script = "\n".join(rendered("watch.sh.j2", [FIRST, second]))
    search = {"PATH": f"{tmp_path}:{os.environ['PATH']}"}
    subprocess.run(["sh", "-c", script], env=search, timeout=60, check=False)
    assert re.findall(r"--child (\S+)", log.read_text()) == ["aws1"]


@given(st.integers(min_value=2**24, max_value=2**32 - 2**24).map(IPv4Address))
def test_two_peers_are_hosts_of_one_network(ours: IPv4Address) -> None:
    theirs = other_host(ours)
    length = peer_prefix(ours, theirs)
    assert theirs != ours and theirs in network_of(ours, length)
    assert length == 31 or other_host(theirs) == ours
    assert length in (30, 31) and (length == 31 or ours in list(network_of(ours, 30).hosts()))
