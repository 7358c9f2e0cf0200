"""TLS of the site's servers: hosts with a certificate of the site's CA, the names in it, and files of the role site_tls."""

import re
from typing import Any

from landbridge.environment import Environment
from landbridge.plan.network.host_role import hosts
from landbridge.plan.network.hosts import service_hosts
from landbridge.plan.network.services.log_store import log_store_host
from landbridge.plan.network.services.monitoring import monitoring_host
from landbridge.plan.network.services.serving import model_gateway_hosts, serving_hosts, shared_name

#: Folder with the CA's certificates, which containers of jobs get: no other file is in it.
TRUST_FOLDER = "/etc/landbridge/tls"
#: CA certificates for clients on every host. In AWS the jobs' prolog writes them from slurm.conf.
AUTHORITY_FILE = f"{TRUST_FOLDER}/ca.pem"
#: Key, certificate and chain of a host with servers.
HOST_FILE = "/etc/landbridge/site-certificate/host.pem"


def has_site_tls(environment: Environment) -> bool:
    """Return whether a server of the site has a certificate of the site's CA."""
    return bool(server_names(environment))


def server_names(environment: Environment) -> dict[str, tuple[str, ...]]:
    """Return the names and addresses in the certificate of each host that has one: the names in its clients' URLs."""
    if environment.existing_slurm is not None:
        return {}
    served = service_hosts(environment)
    names: dict[str, list[str]] = {}
    if environment.mlops.mlflow.tls:
        names[served.mlops] = [_without_port(name) for name in mlflow_host_names(environment)]
    if served.object_store is not None:
        names[served.object_store] = [
            *names.get(served.object_store, []),
            *host_names(environment, served.object_store),
        ]
    for host in serving_hosts(environment):
        if host not in served.addresses:
            continue
        names[host] = [*names.get(host, []), *host_names(environment, host)]
        shared = shared_name(environment)
        if shared is not None and host in model_gateway_hosts(environment) and shared in served.addresses:
            names[host] += host_names(environment, shared)
    for host, of_logs in _log_names(environment).items():
        names.setdefault(host, []).extend(of_logs)
    for host, exporters in _exporter_names(environment).items():
        names.setdefault(host, []).extend(exporters)
    return {host: tuple(dict.fromkeys(of_host)) for host, of_host in names.items()}


def mlflow_host_names(environment: Environment) -> list[str]:
    """Return the values of the Host header that MLflow accepts, without the port of each server."""
    return [*host_names(environment, service_hosts(environment).mlops), *environment.mlops.mlflow.allowed_hosts]


def host_names(environment: Environment, host: str) -> list[str]:
    """Return the names and the address of a host in the URLs of its clients."""
    served = service_hosts(environment)
    address = served.addresses.get(host) or environment.host_addresses()[host]
    return [host, f"{host}.{served.domain}", str(address), "localhost"]


def site_tls_variables(environment: Environment) -> dict[str, Any]:
    """Return the variables of every host, in AWS too; empty without TLS."""
    return {"landbridge_site_tls": True} if has_site_tls(environment) else {}


def certificate_variables(environment: Environment, host: str) -> dict[str, Any]:
    """Return the variables of a host with a certificate; empty for another."""
    names = server_names(environment).get(host, ())
    return {"site_tls_names": list(names)} if names else {}


def _exporter_names(environment: Environment) -> dict[str, list[str]]:
    """Return the names of each host's exporters; on the monitoring host also the loopback, where Alertmanager listens."""
    monitoring = monitoring_host(environment)
    if monitoring is None:
        return {}
    domain = service_hosts(environment).domain
    names = {host.name: [host.name, f"{host.name}.{domain}", host.address] for host in hosts(environment)}
    if monitoring in names:
        names[monitoring] += ["localhost", "127.0.0.1"]
    return names


def _log_names(environment: Environment) -> dict[str, list[str]]:
    """Return the names of the log store, and of each host that ships its log: the certificate identifies it to the store."""
    if log_store_host(environment) is None:
        return {}
    domain = service_hosts(environment).domain
    return {host.name: [host.name, f"{host.name}.{domain}", host.address] for host in hosts(environment)}


def _without_port(name: str) -> str:
    return re.sub(r":[0-9]+$", "", name)
