"""Pre-shared keys of VPN tunnels in Pulumi's state and on the operator's machine."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from landbridge.environment import Environment
from landbridge.paths import secrets_dir
from landbridge.plan.network.link import OWN
from landbridge.plan.outputs import StackOutputs
from landbridge.plan.site.link.gateway import keys_file
from landbridge.plan.stacks import PlannedStack, planned_stacks
from landbridge.realise.stack import finding, opened, run

_VPN = "aws:ec2/vpnConnection:VpnConnection"


@dataclass(frozen=True, slots=True)
class KeptTunnel:
    """Tunnel of a site: its connection in AWS and in Pulumi's state, and the place of its key on this machine."""

    address: str
    connection: str
    urn: str
    stack: PlannedStack
    keys_path: Path
    position: int


def find_tunnel(environment: Environment, file: Path, outputs: StackOutputs, address: str) -> KeptTunnel:
    """Return the tunnel with this outside address of AWS. Raises FindingsError, PulumiFailed."""
    link = outputs.link
    sites = {OWN: link.tunnels, **{name: site.tunnels for name, site in link.sites.items()}} if link is not None else {}
    places = {
        tunnel.outside_address: (site, position)
        for site, tunnels in sites.items()
        for position, tunnel in enumerate(tunnels)
    }
    if address not in places:
        known = ", ".join(places) or "none"
        raise finding(
            "tunnel-unknown", f"{address} is the address of no tunnel of {environment.name}", f"known: {known}"
        )
    site, position = places[address]
    for planned in planned_stacks(environment):
        for resource in (opened(environment, file, planned).export_stack().deployment or {}).get("resources") or ():
            if resource.get("type") == _VPN and address in _addresses(resource):
                path = secrets_dir(environment.name) / keys_file(site)
                return KeptTunnel(address, str(resource["id"]), str(resource["urn"]), planned, path, position)
    raise finding("tunnel-unknown", f"Pulumi's state has no VPN connection with {address}", "run landbridge refresh")


def read_keys(tunnel: KeptTunnel) -> list[str]:
    """Return the keys of the tunnel's site. Raises FindingsError."""
    try:
        keys = json.loads(tunnel.keys_path.read_text())
    except (OSError, ValueError):
        keys = None
    if not isinstance(keys, list) or len(keys) <= tunnel.position:
        fix = "run landbridge up, which writes the file"
        raise finding("tunnel-keys", f"{tunnel.keys_path} has no key of {tunnel.address}", fix)
    return [str(key) for key in keys]


def refresh_tunnel(environment: Environment, file: Path, tunnel: KeptTunnel) -> None:
    """Read the connection into Pulumi's state, so that the next `up` writes its present keys. Raises PulumiFailed."""
    run("refresh", environment, file, tunnel.stack, _ignore, target=[tunnel.urn])


def _addresses(resource: Any) -> tuple[Any, ...]:
    outputs = resource.get("outputs") or {}
    return outputs.get("tunnel1Address"), outputs.get("tunnel2Address")


def _ignore(event: Any) -> None:
    """Ignore an event."""
