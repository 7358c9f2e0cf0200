"""Collection of the facts of hosts over ssh: the probe is sent as a program, and nothing remains on the host."""

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
from landbridge.ops.host_access import forced_command
from landbridge.ops.scontrol import ssh, ssh_to
from landbridge.plan.network.host_role import hosts
from landbridge.plan.network.hosts import service_hosts
from landbridge.plan.other_regions import aws_ranges
from landbridge.plan.site.link.expectations import GatewayExpectation, LinkExpectations
from landbridge.plan.site.link.flows import CLOUD_NODE, LinkSide
from landbridge.plan.site.link.request import empty_request, encoded, gateway_request

PROBE = Path(__file__).with_name("probe.py")
_TIMEOUT_SECONDS = 120


@dataclass(frozen=True, slots=True)
class LinkHost:
    """Host that reads facts: `words` start a command there, and `gateway` is set for a gateway."""

    name: str
    side: LinkSide
    address: str
    words: tuple[str, ...]
    gateway: GatewayExpectation | None = None
    #: Name of the forced command's request; empty for a host to which the probe itself is sent.
    word: str = ""
    #: Whether the probe runs as root.
    is_root: bool = True


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
    """Return the hosts to read: every gateway, the first controller, the monitoring host if nodes in AWS are monitored, and `also`: names of hosts, or `user@address`.

    Raises ValueError for an unknown host.
    """
    served = service_hosts(environment)
    every = {host.name: host.address for host in hosts(environment)}
    user = served.access.user
    access = forced_command()
    if access is not None:
        # On the first controller, with the key of the gateways.
        first = served.controllers[0]
        return (
            *(
                LinkHost(each.host, "onprem", each.address, (*access.ssh(each.address),), each, "link")
                for each in expected.gateways
            ),
            LinkHost(first, "onprem", every[first], (), is_root=False),
        )
    chosen = [
        LinkHost(gateway.host, "onprem", gateway.address, (*ssh_to(environment, f"{user}@{gateway.address}"),), gateway)
        for gateway in expected.gateways
    ]
    # A flow that one host alone may open is tried from that host.
    only = (flow.host for flow in expected.flows if flow.host)
    names = [name for name in (served.controllers[0], *only, *also) if name not in {host.name for host in chosen}]
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
    if host.gateway is not None:
        return gateway_request(host.gateway)
    request = empty_request()
    for flow in expected.flows:
        if flow.origin == host.side and flow.host in ("", host.name):
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


def _command(host: LinkHost, request: Mapping[str, Any]) -> list[str]:
    if host.word:
        return [*host.words, host.word]
    privileged = 'if [ "$(id -u)" = 0 ]; then root=; else root="sudo --non-interactive"; fi; $root '
    script = f"{privileged if host.is_root else 'exec '}python3 -B - {encoded(request)}"
    return [*host.words, script] if host.words else ["sh", "-c", script]


def read_host(host: LinkHost, request: Mapping[str, Any], seconds: float = _TIMEOUT_SECONDS) -> HostFacts:
    """Return the facts that a request names, or the reason why the host gave none within `seconds`."""
    command = _command(host, request)
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
