"""Hosts of model servers in AWS: EC2 instances at planned addresses, which the model gateway starts and stops.

An instance has no role: it reads models at the gateway, and calls no service of AWS.
"""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from landbridge.environment import CloudModelServers, Environment
from landbridge.findings import Finding, FindingsError
from landbridge.plan.args import Args, tags
from landbridge.plan.aws.images import model_servers_image
from landbridge.plan.aws.machine import MachinePlan, internet_egress_rules, security_group_rule
from landbridge.plan.aws.pool import SecurityGroupRule
from landbridge.plan.network.hosts import service_hosts
from landbridge.plan.network.services.log_store import log_store_host
from landbridge.plan.network.services.monitoring import exporter_port, monitoring_host
from landbridge.plan.network.services.serving import cloud_model_servers, measured_slots, model_slots, serving_of
from landbridge.tags import MODEL_SERVER, SERVING


class ModelServersArgs(Args):
    """Hosts of model servers, each with its own name: adding or removing one changes no other."""

    cluster: str
    machines: tuple[MachinePlan, ...]
    security_group_rules: tuple[SecurityGroupRule, ...]
    tags: dict[str, str]

    @property
    def name(self) -> str:
        """Name of the hosts' security group."""
        return f"{self.cluster}-model-servers"


def model_servers_args(environment: Environment, locked: Mapping[str, str] | None = None) -> ModelServersArgs | None:
    """Plan the hosts; None without them. Raises FindingsError for a host without an address."""
    serving = serving_of(environment)
    if serving is None or serving.aws is None:
        return None
    settings = serving.aws
    machines = [
        _machine(environment, settings, host, zone, locked) for host, zone in cloud_model_servers(environment).items()
    ]
    return ModelServersArgs(
        cluster=environment.name,
        machines=tuple(machines),
        security_group_rules=tuple(_security_group_rules(environment)),
        tags={**tags(environment), SERVING: MODEL_SERVER},
    )


def _machine(
    environment: Environment, settings: CloudModelServers, host: str, zone: str, locked: Mapping[str, str] | None
) -> MachinePlan:
    address = service_hosts(environment).addresses.get(host)
    if address is None:
        message = f"{host} has no address: the subnet of {zone} has no room for it in the reserved range"
        fix = "write fewer hosts, or give the zone a larger subnet"
        raise FindingsError([Finding("model-server-without-address", message, ("serving", "aws", "zones", zone), fix)])
    image = model_servers_image(environment, locked)
    return MachinePlan(
        host=host,
        name=f"{environment.name}-{host}",
        zone=zone,
        address=str(address),
        instance_type=settings.instance,
        image=(image.reference if image is not None else "").removeprefix("resolve:ssm:"),
        root_gib=settings.root_volume_gib,
        user_data=_user_data(environment, settings, host),
    )


def _user_data(environment: Environment, settings: CloudModelServers, host: str) -> str:
    """Return the cloud-init user data: host name, and the login of `landbridge configure`. No secrets.

    Source: cloud-init, modules "Users and Groups" and "SSH" (2026-11-26).
    """
    served = service_hosts(environment)
    login: dict[str, Any] = {"name": served.access.user, "ssh_authorized_keys": list(settings.public_keys)}
    if served.access.user != "root":
        login |= {"sudo": "ALL=(ALL) NOPASSWD:ALL", "shell": "/bin/bash", "lock_passwd": True}
    content: dict[str, Any] = {
        "fqdn": f"{host}.{served.domain}",
        "prefer_fqdn_over_hostname": False,
        "hostname": host,
        "disable_root": served.access.user != "root",
        "users": [login],
    }
    if served.access.port != 22:
        # The site's hosts listen there, and so does the connection of `landbridge configure`.
        text = f"Port 22\nPort {served.access.port}\n"
        content["write_files"] = [{"path": "/etc/ssh/sshd_config.d/landbridge-port.conf", "content": text}]
        content["runcmd"] = [["systemctl", "restart", "ssh"]]
    return "#cloud-config\n" + json.dumps(content, sort_keys=True)


def _security_group_rules(environment: Environment) -> Iterator[SecurityGroupRule]:
    """Yield the rules: the gateway reaches model servers, Prometheus their metrics, operators ssh; no rule opens a way to nodes or to data."""
    serving, served = serving_of(environment), service_hosts(environment)
    assert serving is not None, "only hosts of serving have these rules"
    in_aws = cloud_model_servers(environment)
    ports = sorted({slot.port for slot in model_slots(environment) if slot.host in in_aws})
    for gateway in (served.addresses[host] for host in serving.gateways if host in served.addresses):
        for port in ports:
            why = "the model gateway reaches model servers"
            yield security_group_rule(f"models-{gateway}-{port}", "in", f"{gateway}/32", "tcp", port, why)
        why = "hosts read model folders at the model gateway"
        yield security_group_rule(f"export-{gateway}", "out", f"{gateway}/32", "tcp", serving.port, why)
    monitoring = served.addresses.get(monitoring_host(environment) or "")
    if monitoring is not None:
        measured = {slot.port for slot in measured_slots(environment) if slot.host in in_aws}
        for port in (exporter_port("node"), *sorted(measured)):
            key, why = f"metrics-{port}", "Prometheus reads the metrics of hosts and model servers"
            yield security_group_rule(key, "in", f"{monitoring}/32", "tcp", port, why)
    for network in map(str, environment.hosts.firewall.operators or (served.cidr,)):
        key = network.replace("/", "-")
        yield security_group_rule(f"ssh-{key}", "in", network, "tcp", served.access.port, "operators")
        yield security_group_rule(f"icmp-{key}", "in", network, "icmp", -1, "path MTU discovery, and netcheck")
    logs = served.addresses.get(log_store_host(environment) or "")
    if logs is not None:
        port = environment.observability.logs.port
        yield security_group_rule("logs", "out", f"{logs}/32", "tcp", port, "hosts send their logs")
    if environment.hosts.time_servers:
        yield security_group_rule("time", "out", "0.0.0.0/0", "udp", 123, "time servers (NTP)")
    yield from internet_egress_rules(served)
