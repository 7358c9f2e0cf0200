"""Services that follow the registry: settings of the service on the model gateway, and of that on each host of model servers."""

from typing import Any

from landbridge.environment import Environment, ModelService
from landbridge.plan.network.hosts import service_hosts
from landbridge.plan.network.services.mlflow_servers import mlflow_servers, tracking_uri
from landbridge.plan.network.services.serving import SERVING_ACCOUNT, followed_services, model_slots, serving_of
from landbridge.plan.serving.haproxy import backend
from landbridge.plan.serving.model_servers import MODELS, TRUST, account
from landbridge.plan.site.site_tls import AUTHORITY_FILE

#: State of the service on the gateway's host.
STATE = "/var/lib/landbridge-serving"
#: Unix socket of the export of model folders.
EXPORT = "/run/landbridge-serving/export.sock"
#: Unix socket that keeps requests of a service without a running model server.
WAITING_ROOM = "/run/landbridge-serving/wait-{service}.sock"
#: Certificates and keys whose signatures of models are accepted on the gateway's host.
GATEWAY_TRUST = "/etc/landbridge/model-trust.pem"
#: Orders of the operator: a number of hosts by service.
ORDERS = "/etc/landbridge/model-orders.json"

#: Password of the gateway's account in MLflow, readable by the service's account only.
PASSWORD = "/etc/landbridge/model-mlflow-password"
#: Token of the export on a gateway of a pair, readable by the service's account only.
GATEWAY_TOKEN = "/etc/landbridge/model-gateway-token"
#: Token of a host of model servers, readable by root only.
HOST_TOKEN = "/etc/landbridge/models/host-token"


def follow_settings(environment: Environment, socket: str, state_file: str) -> dict[str, Any]:
    """Return the settings of the service on the gateway's host; empty without a service that follows the registry."""
    registries = {server.data_class: tracking_uri(environment, server) for server in mlflow_servers(environment)}
    services = [
        _service(environment, name, service, registries[service.data_class])
        for name, service in followed_services(environment).items()
        if service.data_class in registries
    ]
    if not services:
        return {}
    return {
        "services": services,
        "account": SERVING_ACCOUNT,
        "password": PASSWORD,
        "trust": GATEWAY_TRUST,
        "authority": AUTHORITY_FILE,
        "socket": socket,
        "state_file": state_file,
        "export": EXPORT,
        "state": STATE,
        "orders": ORDERS,
    }


def host_settings(environment: Environment, host: str) -> dict[str, Any]:
    """Return the settings of the service on a host of model servers; empty without a followed service on it."""
    serving, served = serving_of(environment), service_hosts(environment)
    followed, services = followed_services(environment), dict[str, Any]()
    for slot in model_slots(environment):
        if slot.host == host and slot.service in followed:
            service = followed[slot.service]
            first = {
                "model": service.model,
                "data_class": service.data_class,
                "account": account(slot.service),
                "units": {},
            }
            services.setdefault(slot.service, first)["units"][slot.slot] = slot.unit
    if serving is None or not services or serving.gateway_name not in served.addresses:
        return {}
    return {
        "host": host,
        "gateway": serving.gateway_name,
        "address": str(served.addresses[serving.gateway_name]),
        "port": serving.port,
        "token": HOST_TOKEN,
        "authority": AUTHORITY_FILE,
        "trust": TRUST,
        "models": MODELS,
        "services": services,
    }


def model_host_variables(environment: Environment, host: str) -> dict[str, Any]:
    """Return the variables of the role model_server for the service on a host; empty without a followed service on it."""
    settings = host_settings(environment, host)
    return {"model_server_follow": settings} if settings else {}


def _service(environment: Environment, name: str, service: ModelService, registry: str) -> dict[str, Any]:
    slots = [slot for slot in model_slots(environment) if slot.service == name]
    canary = service.canary
    assert canary is not None, "only services with canaries are followed"
    chosen = {
        "weights": list(canary.weights),
        "requests": canary.requests,
        "step_seconds": canary.step_seconds,
        "shadow": service.shadow or None,
        "disagreement": canary.disagreement,
    }
    return {
        "name": name,
        "model": service.model,
        "registry": registry,
        "workspace": canary.team or "",
        "backend": backend(name),
        "hosts": list(dict.fromkeys(slot.host for slot in slots)),
        "servers": [
            {
                "name": slot.server,
                "slot": slot.slot,
                "host": slot.host,
                "url": f"https://{slot.host}:{slot.port}/metrics",
            }
            for slot in slots
        ],
        "p95_ms": service.objective.p95_ms,
        "canary": {key: value for key, value in chosen.items() if value is not None},
        "scale": _scale(service),
    }


def _scale(service: ModelService) -> dict[str, Any]:
    """Return the bounds of the number of hosts; empty if every host serves."""
    scale = service.scale
    if scale is None:
        return {}
    return {
        "least": scale.least,
        "most": service.replicas,
        "host_rate": scale.host_rate,
        "idle_seconds": scale.idle_minutes * 60,
    }
