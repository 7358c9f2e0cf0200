"""Hosts of model servers and of the model gateway, and the slots of each service on them.

A service has two slots on each of its hosts: one serves, and the other gets the next version. Each slot is one process at a port.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from landbridge.environment import Environment, ModelService, Serving

#: Slots of a service: slot b has the port after that of slot a.
SLOTS = ("a", "b")
#: Account of the model gateway in MLflow, and the Unix account of its service.
SERVING_ACCOUNT = "landbridge-serving"


@dataclass(frozen=True, slots=True)
class ModelSlot:
    """Slot of a service on a host: one model server."""

    service: str
    slot: str
    host: str
    port: int

    @property
    def server(self) -> str:
        """Return the name of the slot in HAProxy."""
        return f"{self.slot}-{self.host}"

    @property
    def instance(self) -> str:
        """Return the name of the slot on its host."""
        return f"{self.service}-{self.slot}"

    @property
    def unit(self) -> str:
        """Return the name of its systemd unit, without the suffix."""
        return f"landbridge-model-{self.instance}"


def serving_of(environment: Environment) -> Serving | None:
    """Return the settings; None without them, and on a site that Landbridge does not configure. A rule reports it."""
    if environment.onprem is None or environment.existing_slurm is not None:
        return None
    return environment.serving


def cloud_model_servers(environment: Environment) -> dict[str, str]:
    """Return the zone of each host of model servers in AWS, the first of each zone first."""
    serving = serving_of(environment)
    if serving is None or serving.aws is None:
        return {}
    zones = serving.aws.zones
    return {
        f"serve-{zone.rpartition('-')[2]}-{number:02d}": zone
        for number in range(1, max(zones.values()) + 1)
        for zone, count in zones.items()
        if number <= count
    }


def model_server_hosts(environment: Environment) -> tuple[str, ...]:
    """Return the hosts of model servers, each once: the site's hosts first."""
    serving = serving_of(environment)
    return tuple(dict.fromkeys((*serving.hosts, *cloud_model_servers(environment)))) if serving is not None else ()


def service_model_servers(environment: Environment, service: ModelService) -> tuple[str, ...]:
    """Return the hosts that may serve a service: those in AWS only if its class may be there, and if the gateway sets their number."""
    in_aws, known = cloud_model_servers(environment), environment.data_classes.get(service.data_class)
    may_leave = known is not None and "aws" in known.sites and service.scale is not None and service.canary is not None
    return tuple(host for host in model_server_hosts(environment) if may_leave or host not in in_aws)


def model_gateway_hosts(environment: Environment) -> tuple[str, ...]:
    """Return the hosts of the model gateway: one, a pair, or none."""
    serving = serving_of(environment)
    return serving.gateways if serving is not None else ()


def shared_name(environment: Environment) -> str | None:
    """Return the name whose address two gateways share; None with one gateway."""
    serving = serving_of(environment)
    return serving.name if serving is not None and len(serving.gateways) > 1 else None


def serving_hosts(environment: Environment) -> tuple[str, ...]:
    """Return every host of serving, each once."""
    return tuple(dict.fromkeys((*model_server_hosts(environment), *model_gateway_hosts(environment))))


def model_slots(environment: Environment) -> tuple[ModelSlot, ...]:
    """Return the slots of every service, in the order of the file, of the hosts and of the slots."""
    serving = serving_of(environment)
    return () if serving is None else tuple(_slots(environment, serving))


def measured_slots(environment: Environment) -> tuple[ModelSlot, ...]:
    """Return the slots of Landbridge's own model server: Triton and vLLM have other metrics."""
    serving = serving_of(environment)
    services = {} if serving is None else serving.services
    return tuple(slot for slot in model_slots(environment) if services[slot.service].runtime == "onnx")


def followed_services(environment: Environment) -> dict[str, ModelService]:
    """Return the services whose versions the gateway takes from the registry: those with canaries."""
    serving = serving_of(environment)
    services = {} if serving is None else serving.services
    return {name: service for name, service in services.items() if service.canary is not None}


def starts_model_servers(environment: Environment) -> bool:
    """Return whether the gateway starts and stops hosts in AWS."""
    return bool(cloud_model_servers(environment)) and bool(followed_services(environment))


def calling_accounts(environment: Environment) -> tuple[str, ...]:
    """Return the accounts that may call a service, each once: each has a token."""
    serving = serving_of(environment)
    services = () if serving is None else serving.services.values()
    return tuple(dict.fromkeys(account for service in services for account in service.accounts))


def model_port(service: ModelService, slot: str) -> int:
    """Return the port of a slot."""
    return service.port + SLOTS.index(slot)


def _slots(environment: Environment, serving: Serving) -> Iterator[ModelSlot]:
    for name, service in serving.services.items():
        for host in service_model_servers(environment, service)[: service.replicas]:
            for slot in SLOTS:
                yield ModelSlot(name, slot, host, model_port(service, slot))
