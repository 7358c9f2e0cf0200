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
    subprocess.run(["sh", "-c", script], env=search, check=False)
    assert re.findall(r"--child (\S+)", log.read_text()) == ["aws1"]


@given(st.integers(min_value=2**24, max_value=2**32 - 2**24).map(IPv4Address))
def test_two_peers_are_hosts_of_one_network(ours: IPv4Address) -> None:
    theirs = other_host(ours)
    length = peer_prefix(ours, theirs)
    assert theirs != ours and theirs in network_of(ours, length)
    assert length == 31 or other_host(theirs) == ours
    assert length in (30, 31) and (length == 31 or ours in list(network_of(ours, 30).hosts()))


SHARED = {
    "site_gateway_source_address": "10.20.0.1",
    "site_gateway_inside_interface": "eth0",
    "site_gateway_shared_address": "10.20.0.9/16",
    "site_gateway_shared_priority": 150,
    "site_gateway_shared_peer": "10.20.0.2",
}


def test_two_gateways_speak_vrrp_to_each_other_only() -> None:
    lines = rendered("keepalived.conf.j2", [FIRST], **SHARED)
    assert {"interface eth0", "priority 150", "unicast_src_ip 10.20.0.1", "10.20.0.2", "10.20.0.9/16"} <= set(lines)
    # Both would have the address if a missing route took more than the difference of the priorities.
    assert "weight -100" in lines and 150 - 100 < 100
    assert rendered("redirects.conf.j2", [FIRST], **SHARED)[-1] == "net.ipv4.conf.eth0.send_redirects = 0"


def test_a_gateway_has_routes_while_bgp_has_one(tmp_path: Path) -> None:
    script = "\n".join(rendered("has-routes.sh.j2", [FIRST]))
    program = tmp_path / "ip"
    for networks, code in (("10.60.0.0/16", 0), ("10.30.0.0/16", 0), ("10.99.0.0/16", 1)):
        program.write_text(f'#!/bin/sh\ncase "$*" in *{networks}*) echo "{networks} via 169.254.10.1";; esac\n')
        program.chmod(0o755)
        search = {"PATH": f"{tmp_path}:{os.environ['PATH']}"}
        done = subprocess.run(["sh", "-c", script], env=search, check=False)
        assert done.returncode == code, networks


def test_routes_of_a_lost_neighbour_do_not_stay() -> None:
    """A neighbour's routes would stay for two minutes after the hold time."""
    lines = rendered("frr.conf.j2", [FIRST], site_gateway_inside_neighbors=["10.20.0.2"])
    assert "no bgp graceful-restart notification" in lines
    assert "neighbor 10.20.0.2 graceful-restart-disable" in lines
    assert not [line for line in lines if line.startswith("neighbor 169.254") and "graceful" in line]


def test_the_kernel_carries_every_tunnel_and_user_space_the_first_interface() -> None:
    second = {**FIRST, "name": "aws2", "inside_local": "169.254.11.2"}
    kernel = rendered("interfaces.sh.j2", [FIRST, second], site_gateway_datapath="kernel")
    assert [line for line in kernel if "type xfrm" in line] == [
        "ip link add aws1 type xfrm  if_id 1",
        "ip link add aws2 type xfrm  if_id 2",
    ]
    assert "load = no" in rendered("charon.conf.j2", [FIRST], site_gateway_datapath="kernel")
    assert {"if_id_in = 1", "if_id_out = 2"} <= set(rendered("connections.conf.j2", [FIRST, second]))
    user = rendered("interfaces.sh.j2", [FIRST], site_gateway_datapath="userspace")
    assert not [line for line in user if "xfrm" in line]
    assert "ip address replace 169.254.10.2/30 dev ipsec0" in user
    assert "load = yes" in rendered("charon.conf.j2", [FIRST], site_gateway_datapath="userspace")
