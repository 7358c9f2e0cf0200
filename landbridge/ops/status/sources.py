"""Sources of the state: the programs that each host runs. Pure; nothing is changed on a host."""

import socket
from collections.abc import Mapping
from dataclasses import dataclass

from landbridge import hostlist
from landbridge.environment import Environment
from landbridge.ops.netcheck.collect import LinkHost, link_hosts
from landbridge.ops.scontrol import ssh
from landbridge.plan.network.host_role import configured_hosts
from landbridge.plan.network.hosts import service_hosts
from landbridge.plan.outputs import StackOutputs
from landbridge.plan.site.link.expectations import link_expectations
from landbridge.plan.site.site_tls import AUTHORITY_FILE, HOST_FILE, server_names

#: Folder of the role mlflow's periodic dumps.
DUMPS = "/var/backups/landbridge-mlflow"
_END = ["openssl", "x509", "-noout", "-enddate", "-dateopt", "iso_8601", "-in"]
_GET = "import sys, urllib.request as u; sys.stdout.write(u.urlopen(sys.argv[1], timeout=3).read().decode())"
#: Users of the cluster's record whose account has a shell. What host_record locks has none, and other clusters' users it leaves alone.
_LOGINS = """
import glob, json, sys
users = {path: json.load(open(path)).get("users", {}) for path in glob.glob("/etc/landbridge/records/*.json")}
ours = users.pop(f"/etc/landbridge/records/{sys.argv[1]}.json", {})
rows = (line.rstrip("\\n").split(":") for line in open("/etc/passwd") if line.count(":") == 6)
logins = {row[0] for row in rows if ours.get(row[0]) == int(row[2]) and not row[6].endswith("nologin")}
print(*sorted(logins.difference(*users.values())))
"""
#: State, reason and submission time of each job; the time is a Unix timestamp (squeue(1), SLURM_TIME_FORMAT).
_QUEUE = ["env", "SLURM_TIME_FORMAT=%s", "squeue", "--noheader", "--format=%T|%r|%V"]


@dataclass(frozen=True, slots=True)
class StatusSource:
    """Host, and the programs that it runs, by name of the fact."""

    host: LinkHost
    programs: Mapping[str, list[str]]


def status_sources(environment: Environment, outputs: StackOutputs | None) -> tuple[StatusSource, ...]:
    """Return every service host, and the gateways of all sites."""
    served = service_hosts(environment)
    gateways: dict[str, LinkHost] = {}
    if environment.link is not None:
        expected = link_expectations(environment, outputs)
        gateways = {host.name: host for host in link_hosts(environment, expected, ()) if host.gateway is not None}
    ours = {host.name: host.address for host in configured_hosts(environment) if host.name in served.names}
    controllers = {name: str(served.addresses[name]) for name in served.controllers}
    sources = []
    for name, address in {**ours, **controllers}.items():
        words = () if is_local(address) else tuple(ssh(environment, name))
        gateway = gateways.pop(name).gateway if name in gateways else None
        sources.append(LinkHost(name, "onprem" if served.site == "onprem" else "aws", address, words, gateway))
    return tuple(StatusSource(host, programs_of(environment, host)) for host in (*sources, *gateways.values()))


def unread_nodes(environment: Environment) -> tuple[str, ...]:
    """Return the configured nodes of the site, of which `status_sources` has none."""
    nodes = {name for group in environment.node_groups for name in hostlist.expand(group.hosts)}
    read = service_hosts(environment).names
    return tuple(h.name for h in configured_hosts(environment) if h.name in nodes and h.name not in read)


def programs_of(environment: Environment, host: LinkHost) -> dict[str, list[str]]:
    """Return the programs that a host runs, by the services that it has."""
    served = service_hosts(environment)
    programs = {
        "failed units": ["systemctl", "list-units", "--failed", "--plain", "--no-legend", "--no-pager"],
        "logins": ["python3", "-c", _LOGINS, environment.name],
    }
    if host.gateway is not None:
        programs |= {
            "sas": ["swanctl", "--list-sas", "--raw"],
            "log": ["journalctl", "--unit=strongswan", "--output=cat", "--no-pager", "--since=-30min", "--lines=400"],
            "neighbors": ["vtysh", "-c", "show bgp neighbors json"],
        }
    if host.name in served.controllers:
        programs |= {"queue": list(_QUEUE), "nodes": ["scontrol", "show", "nodes", "--json"]}
        port = environment.burst.metrics_port
        if environment.aws.pools and port is not None:
            programs["burst"] = ["python3", "-c", _GET, f"http://127.0.0.1:{port}/metrics"]
    if host.name in server_names(environment):
        programs |= {"certificate": [*_END, HOST_FILE], "authority": [*_END, AUTHORITY_FILE]}
    if host.name == served.mlops and environment.existing_slurm is None:
        programs["dumps"] = ["find", DUMPS, "-name", "*-periodic-*.dump", "-printf", "%T@ %s %f\\n"]
    return programs


def is_local(address: str) -> bool:
    """Return whether this machine has the address: then its programs run without ssh."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.bind((address, 0))
        except OSError:
            return False
    return True
