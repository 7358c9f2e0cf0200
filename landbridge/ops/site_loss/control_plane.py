"""Addresses of a site's control plane, which must not answer while the cluster runs in AWS."""

import json
from pathlib import Path

from landbridge.environment import Environment
from landbridge.plan.network.hosts import service_hosts
from landbridge.plan.slurm_ports import slurm_ports

#: Port of slurmdbd. Source: slurmdbd.conf(5), DbdPort.
_DATABASE_PORT = 6819


def planned_addresses(environment: Environment) -> tuple[tuple[str, int], ...]:
    """Return address and port of slurmctld on each controller and of slurmdbd; none for services in AWS. Pure."""
    if environment.onprem is None or environment.existing_slurm is not None:
        return ()
    served = service_hosts(environment)
    port = int(slurm_ports(environment)[0].partition("-")[0])
    hosts = [(str(served.addresses[name]), port) for name in served.controllers if name in served.addresses]
    database = served.addresses.get(served.database)
    return tuple(hosts) + (((str(database), _DATABASE_PORT),) if database is not None else ())


def control_plane(environment: Environment, records: Path) -> tuple[tuple[str, int], ...]:
    """Return the addresses of the site. The file of the recovery has no site: the first run writes them beside the records."""
    site_file = records.with_suffix(".site.json")
    planned = planned_addresses(environment)
    if planned and not site_file.exists():
        site_file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        site_file.write_text(json.dumps(planned))
    if site_file.exists():
        return tuple((str(address), int(port)) for address, port in json.loads(site_file.read_text()))
    return planned
