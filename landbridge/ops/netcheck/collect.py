"""Collection of the facts of hosts over ssh: the probe is sent as a program, and nothing remains on the host."""

import base64
import json
import shlex
import subprocess
import time
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from ipaddress import AddressValueError, IPv4Address
from pathlib import Path
from typing import Any

from landbridge.environment import Environment
from landbridge.ops.scontrol import ssh, ssh_to
from landbridge.plan.network.hosts import hosts, service_hosts
from landbridge.plan.other_regions import aws_ranges
from landbridge.plan.site.link_expectations import GatewayExpectation, LinkExpectations
from landbridge.plan.site.link_flows import CLOUD_NODE, LinkSide

PROBE = Path(__file__).with_name("probe.py")
_TIMEOUT_SECONDS = 120
#: Seconds to wait for a connection or a DNS answer. The kernel repeats a SYN after 1 and 3 s.
_ANSWER_SECONDS = 5


@dataclass(frozen=True, slots=True)
class LinkHost:
    """Host that reads facts: `words` start a command there, and `gateway` is set for a gateway."""

    name: str
    side: LinkSide
    address: str
    words: tuple[str, ...]
    gateway: GatewayExpectation | None = None


@dataclass(frozen=True, slots=True)
class HostFacts:
    """Facts of a host as the probe printed them; `error` is set if there are none. `clock` is the offset of its clock
    from this machine's, `margin` the greatest error of that value, both in seconds.
    """

    host: LinkHost
    data: Mapping[str, Any]
    error: str = ""
    clock: float = 0.0
    margin: float = 0.0


def link_hosts(environment: Environment, expected: LinkExpectations, also: Iterable[str]) -> tuple[LinkHost, ...]:
    """Return the hosts to read: every gateway, the first controller, and `also`: names of hosts, or `user@address`.

    Raises ValueError for an unknown host.
    """
    served = service_hosts(environment)
    every = {host.name: host.address for host in hosts(environment)}
    user = served.access.user
    chosen = [
        LinkHost(gateway.host, "onprem", gateway.address, (*ssh_to(environment, f"{user}@{gateway.address}"),), gateway)
        for gateway in expected.gateways
    ]
    names = [name for name in (served.controllers[0], *also) if name not in {host.name for host in chosen}]
    for name in dict.fromkeys(names):
        if name in every:
            chosen.append(LinkHost(name, "onprem", every[name], tuple(ssh(environment, name))))
            continue
        address = name.rpartition("@")[2]
        try:
            in_aws = any(IPv4Address(address) in cidr for cidr in aws_ranges(environment))
        except AddressValueError:
            raise ValueError(f"{name} is not a host of {environment.name}, and not USER@ADDRESS") from None
        destination = name if "@" in name else f"{user}@{name}"
        chosen.append(LinkHost(name, "aws" if in_aws else "onprem", address, tuple(ssh_to(environment, destination))))
    return tuple(chosen)


def request_of(host: LinkHost, expected: LinkExpectations, nodes: Sequence[str]) -> dict[str, Any]:
    """Return the request for a host. `nodes`: addresses of running nodes in AWS."""
    gateway = host.gateway
    request: dict[str, Any] = {
        "timeout": _ANSWER_SECONDS,
        "programs": {"tracking": ["chronyc", "-c", "tracking"]},
        "files": [],
        "tcp": [],
        "dns": [],
        "paths": [],
    }
    if gateway is not None:
        request["programs"] |= _gateway_programs(gateway)
        names = ("all", "default", *dict.fromkeys(tunnel.interface for tunnel in gateway.tunnels))
        request["files"] = [f"/proc/sys/net/ipv4/conf/{name}/rp_filter" for name in names]
        request["files"].append("/proc/sys/net/ipv4/ip_forward")
        request["paths"] = [[tunnel.inside_remote, tunnel.mtu] for tunnel in gateway.tunnels]
        return request
    for flow in expected.flows:
        if flow.origin == host.side:
            addresses = nodes if flow.address == CLOUD_NODE else (flow.address,)
            request["tcp"] += [[address, flow.port] for address in addresses]
    request["dns"] = [
        [name.server, name.name, "A" if name.address else "SOA"] for name in expected.names if name.origin == host.side
    ]
    far = nodes if host.side == "onprem" else [gateway.address for gateway in expected.gateways]
    mtu = min((tunnel.mtu for gateway in expected.gateways for tunnel in gateway.tunnels), default=None)
    request["paths"] = [[address, mtu] for address in far] if mtu is not None else []
    return request


def collect(expected: LinkExpectations, chosen: Sequence[LinkHost]) -> tuple[HostFacts, ...]:
    """Return the facts of all hosts, read at the same time."""
    nodes = [host.address for host in chosen if host.side == "aws"]
    with ThreadPoolExecutor(max(1, len(chosen))) as pool:
        return tuple(pool.map(lambda host: read_host(host, request_of(host, expected, nodes)), chosen))


def read_host(host: LinkHost, request: Mapping[str, Any], seconds: float = _TIMEOUT_SECONDS) -> HostFacts:
    """Return the facts that a request names, or the reason why the host gave none within `seconds`."""
    encoded = base64.b64encode(json.dumps(request).encode()).decode()
    script = f'if [ "$(id -u)" = 0 ]; then root=; else root="sudo --non-interactive"; fi; $root python3 -B - {encoded}'
    command = [*host.words, script] if host.words else ["sh", "-c", script]
    started = time.time()
    try:
        done = subprocess.run(command, input=PROBE.read_bytes(), capture_output=True, timeout=seconds, check=False)
    except FileNotFoundError as error:
        return HostFacts(host, {}, f"{shlex.join(command[:1])}: {error}"[:300])
    except subprocess.TimeoutExpired:
        return HostFacts(host, {}, f"no answer within {seconds:g} s")
    ended = time.time()
    try:
        data = dict(json.loads(done.stdout))
    except ValueError:
        text = (done.stderr or done.stdout).decode(errors="replace").strip()
        return HostFacts(host, {}, text[-300:] or f"exit status {done.returncode}")
    # The host read its clock between start and end of this command.
    clock = min(max(data["time"], started), ended)
    return HostFacts(host, data, "", round(data["time"] - clock, 3), round(ended - started, 3))


def _gateway_programs(gateway: GatewayExpectation) -> dict[str, list[str]]:
    programs = {
        "sas": ["swanctl", "--list-sas", "--raw"],
        "log": ["journalctl", "--unit=strongswan", "--output=cat", "--no-pager", "--since=-30min", "--lines=400"],
        "neighbors": ["vtysh", "-c", "show bgp neighbors json"],
        "routes": ["ip", "-j", "route", "show", "table", "all"],
        "links": ["ip", "-j", "address"],
        "rules": ["nft", "-j", "list", "ruleset"],
    }
    for tunnel in gateway.tunnels:
        for part in ("received-routes", "routes", "advertised-routes"):
            words = f"show bgp ipv4 unicast neighbors {tunnel.inside_remote} {part} json"
            programs[f"{part} {tunnel.inside_remote}"] = ["vtysh", "-c", words]
    return programs
