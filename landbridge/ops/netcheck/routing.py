"""Parsers of FRR's, iproute2's and nft's output on a gateway. Pure; a text that they cannot read raises ValueError."""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from ipaddress import IPv4Network
from typing import Any

_MAIN = "main"
#: Kinds of routes that drop packets.
_DROPPING = ("unreachable", "blackhole", "prohibit")


@dataclass(frozen=True, slots=True)
class BgpNeighbor:
    """BGP neighbour of FRR. `reason`: why its last session ended; `over_limit`: it announced more than `limit` prefixes."""

    address: str
    remote_asn: int
    established: bool
    state: str
    reason: str
    limit: int | None
    over_limit: bool


@dataclass(frozen=True, slots=True)
class KernelRoute:
    """Route of the kernel's main table. `source`: the address of the host's own connections, if the route has one."""

    network: IPv4Network
    kind: str
    device: str
    origin: str
    metric: int
    source: str

    @property
    def drops(self) -> bool:
        """Return true for a route that drops packets."""
        return self.kind in _DROPPING


def bgp_neighbors(text: str) -> dict[str, BgpNeighbor]:
    """Return the neighbours of `show bgp neighbors json` by address."""
    return {
        address: _neighbor(address, values) for address, values in _object(text).items() if isinstance(values, dict)
    }


def prefixes(text: str) -> frozenset[str]:
    """Return the prefixes of `show bgp ipv4 unicast neighbors ADDRESS received-routes|routes|advertised-routes json`."""
    data = _object(text)
    keys = [key for key in ("receivedRoutes", "advertisedRoutes", "routes") if key in data]
    if not keys:
        raise ValueError("the answer of vtysh has no routes")
    return frozenset(data[keys[0]])


def kernel_routes(text: str) -> tuple[KernelRoute, ...]:
    """Return the routes of the main table of `ip -j route show table all`."""
    return tuple(
        KernelRoute(
            network=IPv4Network("0.0.0.0/0" if route["dst"] == "default" else route["dst"]),
            kind=route.get("type", "unicast"),
            device=route.get("dev", "") or ",".join(hop.get("dev", "") for hop in route.get("nexthops", ())),
            origin=route.get("protocol", "static"),
            metric=route.get("metric", 0),
            source=route.get("prefsrc", ""),
        )
        for route in _list(text)
        if route.get("table", _MAIN) == _MAIN and ":" not in route["dst"]
    )


def used_route(routes: Iterable[KernelRoute], network: IPv4Network) -> KernelRoute | None:
    """Return the route that packets to a network take: the longest prefix, then the smallest metric."""
    covering = [route for route in routes if network.subnet_of(route.network)]
    return min(covering, key=lambda route: (-route.network.prefixlen, route.metric), default=None)


def interface_mtus(text: str) -> dict[str, int]:
    """Return the MTU of each interface of `ip -j address`."""
    return {link["ifname"]: int(link["mtu"]) for link in _list(text)}


def interface_addresses(text: str) -> frozenset[str]:
    """Return the IPv4 addresses of all interfaces of `ip -j address`."""
    return frozenset(
        entry["local"] for link in _list(text) for entry in link.get("addr_info", ()) if entry.get("family") == "inet"
    )


def clamped(text: str) -> frozenset[tuple[str, str, int]]:
    """Return the rules of `nft -j list ruleset` that set the MSS: direction (iifname, oifname), interface, and size."""
    rules = set()
    for entry in _object(text).get("nftables", ()):
        expressions = entry.get("rule", {}).get("expr", ()) if isinstance(entry, dict) else ()
        size = next(filter(None, map(_maxseg, expressions)), None)
        for direction, interface in _interfaces(expressions) if size is not None else ():
            rules.add((direction, interface, size or 0))
    return frozenset(rules)


def counter(netstat: str, name: str) -> int:
    """Return a counter of /proc/net/netstat, which has a line of names before each line of values."""
    lines = netstat.splitlines()
    for names, values in zip(lines[::2], lines[1::2], strict=False):
        if name in names.split():
            return int(values.split()[names.split().index(name)])
    raise ValueError(f"/proc/net/netstat has no {name}")


def _neighbor(address: str, values: Mapping[str, Any]) -> BgpNeighbor:
    family = values.get("addressFamilyInfo", {}).get("ipv4Unicast", {})
    reason = values.get("lastNotificationReason") or values.get("lastResetDueTo") or ""
    return BgpNeighbor(
        address=address,
        remote_asn=int(values.get("remoteAs", 0)),
        established=values.get("bgpState") == "Established",
        state=str(values.get("bgpState", "")),
        reason=str(reason),
        limit=family.get("prefixAllowedMax"),
        over_limit=bool(values.get("prefixesConfigExceedMax")),
    )


def _maxseg(expression: Mapping[str, Any]) -> int | None:
    mangle = expression.get("mangle", {})
    option = mangle.get("key", {}).get("tcp option", {}) if isinstance(mangle.get("key"), dict) else {}
    if option.get("name") != "maxseg":
        return None
    value = mangle.get("value")
    # `rt mtu` follows the MTU of the route.
    return value if isinstance(value, int) else -1


def _interfaces(expressions: Iterable[Mapping[str, Any]]) -> Iterator[tuple[str, str]]:
    for expression in expressions:
        match = expression.get("match", {})
        key = match.get("left", {}).get("meta", {}).get("key") if isinstance(match.get("left"), dict) else None
        if key in ("iifname", "oifname") and isinstance(match.get("right"), str):
            yield key, match["right"]


def _object(text: str) -> dict[str, Any]:
    data = json.loads(text)
    if not isinstance(data, dict):
        raise ValueError("not a JSON object")
    return data


def _list(text: str) -> list[dict[str, Any]]:
    data = json.loads(text)
    if not isinstance(data, list):
        raise ValueError("not a JSON list")
    return data
