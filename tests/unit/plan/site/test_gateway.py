"""Files of the gateways: advertised routes, preference of tunnels, and the two ends of a line."""

from ipaddress import IPv4Address
from pathlib import Path
from typing import Any

import jinja2
import yaml
from hypothesis import given
from hypothesis import strategies as st

from landbridge.plan.network.direct_connect import around, other_host, peer_prefix

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


def rendered(template: str, tunnels: list[dict[str, Any]], **more: Any) -> list[str]:
    """A file of the role, line by line."""
    defaults = yaml.safe_load((ROLE / "defaults" / "main.yml").read_text())
    loader = jinja2.FileSystemLoader(ROLE / "templates")
    place = jinja2.Environment(loader=loader, trim_blocks=True, undefined=jinja2.StrictUndefined)
    own = {
        "site_gateway_local_address": "10.20.0.1",
        "site_gateway_local_asn": 65010,
        "site_gateway_router_id": "10.20.0.1",
        "site_gateway_advertise": ["10.20.0.0/16"],
        "site_gateway_accept": ["10.60.0.0/16", "10.30.0.0/16"],
        "site_gateway_pre_shared_keys": ["one", "two"],
        "site_gateway_active_tunnels": tunnels,
    }
    values = {**defaults, **own, "ansible_managed": "", "inventory_hostname": "gw01", **more}
    return [line.strip() for line in place.get_template(template).render(values).splitlines()]


def route_map(lines: list[str], name: str) -> list[str]:
    """Return a route-map's statements, line by line."""
    start = lines.index(f"route-map {name} permit 10") + 1
    end = next(index for index in range(start, len(lines)) if lines[index].startswith(("route-map", "!")))
    return lines[start:end]


def test_a_backup_is_heard_with_less_preference_and_tells_a_longer_way() -> None:
    lines = rendered("frr.conf.j2", [FIRST, BACKUP])
    assert route_map(lines, "RECEIVE-aws1") == ["match ip address prefix-list THEIRS", "set local-preference 100"]
    assert route_map(lines, "SEND-aws1") == ["match ip address prefix-list OURS"]
    assert route_map(lines, "RECEIVE-aws3")[1] == "set local-preference 50"
    assert route_map(lines, "SEND-aws3")[1] == "set as-path prepend 65010 65010"
    for tunnel in (FIRST, BACKUP):
        neighbor = f"neighbor {tunnel['inside_remote']}"
        assert f"{neighbor} route-map SEND-{tunnel['name']} out" in lines
        assert f"{neighbor} route-map RECEIVE-{tunnel['name']} in" in lines


def test_a_router_inside_is_told_what_the_tunnels_reach_and_nothing_else() -> None:
    without = rendered("frr.conf.j2", [FIRST])
    assert not [line for line in without if "INSIDE" in line]
    lines = rendered("frr.conf.j2", [FIRST], site_gateway_inside_neighbors=["10.20.0.2"])
    assert route_map(lines, "INSIDE") == ["match ip address prefix-list THEIRS"]
    told = [line for line in lines if line.startswith("neighbor 10.20.0.2")]
    assert "neighbor 10.20.0.2 remote-as 65010" in told and "neighbor 10.20.0.2 next-hop-self" in told
    assert {"neighbor 10.20.0.2 route-map INSIDE in", "neighbor 10.20.0.2 route-map INSIDE out"} <= set(told)


def test_a_tunnel_may_have_an_address_of_its_own() -> None:
    lines = rendered("connections.conf.j2", [FIRST, BACKUP])
    assert [line for line in lines if line.startswith("local_addrs")] == [
        "local_addrs = 10.20.0.1",
        "local_addrs = 203.0.113.10",
    ]
    assert lines.count("id = 10.20.0.1") == 1 and lines.count("id = 203.0.113.10") == 1


@given(st.integers(min_value=2**24, max_value=2**32 - 2**24).map(IPv4Address))
def test_two_peers_of_a_line_are_in_one_network_and_neither_is_the_network(ours: IPv4Address) -> None:
    theirs = other_host(ours)
    length = peer_prefix(ours, theirs)
    assert theirs != ours and theirs in around(ours, length)
    assert length == 31 or other_host(theirs) == ours
    assert length in (30, 31) and (length == 31 or ours in list(around(ours, 30).hosts()))
