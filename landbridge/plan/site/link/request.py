"""Request of netcheck's probe (landbridge/ops/netcheck/probe.py) to a gateway. Pure.

A host with the role host_access has it as a file, so that the host which asks names no program.
"""

import base64
import json
from collections.abc import Mapping
from typing import Any

from landbridge.plan.site.link.expectations import GatewayExpectation

#: Certificate of a gateway's tunnels, as the role site_gateway copies it.
CERTIFICATE_FILE = "/etc/swanctl/x509/site-gateway.pem"
#: Seconds to wait for a connection or a DNS answer. The kernel repeats a SYN after 1 and 3 s.
_ANSWER_SECONDS = 5


def empty_request() -> dict[str, Any]:
    """Return the request of any host: the state of its clock."""
    return {
        "timeout": _ANSWER_SECONDS,
        "programs": {"tracking": ["chronyc", "-c", "tracking"]},
        "files": [],
        "tcp": [],
        "dns": [],
        "paths": [],
    }


def gateway_request(gateway: GatewayExpectation) -> dict[str, Any]:
    """Return the request of a gateway: state of strongSwan and FRR, kernel settings, and the paths through the tunnels."""
    request = empty_request()
    request["programs"] |= _programs(gateway)
    names = ("all", "default", *dict.fromkeys(tunnel.interface for tunnel in gateway.tunnels))
    request["files"] = [f"/proc/sys/net/ipv4/conf/{name}/rp_filter" for name in names]
    request["files"].append("/proc/sys/net/ipv4/ip_forward")
    request["paths"] = [[tunnel.inside_remote, tunnel.mtu] for tunnel in gateway.tunnels]
    return request


def encoded(request: Mapping[str, Any]) -> str:
    """Return a request as the probe's argument."""
    return base64.b64encode(json.dumps(request).encode()).decode()


def _programs(gateway: GatewayExpectation) -> dict[str, list[str]]:
    programs = {
        "sas": ["swanctl", "--list-sas", "--raw"],
        "log": ["journalctl", "--unit=strongswan", "--output=cat", "--no-pager", "--since=-30min", "--lines=400"],
        "neighbors": ["vtysh", "-c", "show bgp neighbors json"],
        "routes": ["ip", "-j", "route", "show", "table", "all"],
        "links": ["ip", "-j", "address"],
        "rules": ["nft", "-j", "list", "ruleset"],
    }
    if gateway.certificate:
        programs["certificate"] = [
            "openssl",
            "x509",
            "-in",
            CERTIFICATE_FILE,
            "-noout",
            "-subject",
            "-nameopt",
            "multiline",
            "-enddate",
        ]
    for tunnel in gateway.tunnels:
        for part in ("received-routes", "routes", "advertised-routes"):
            words = f"show bgp ipv4 unicast neighbors {tunnel.inside_remote} {part} json"
            programs[f"{part} {tunnel.inside_remote}"] = ["vtysh", "-c", words]
    return programs
