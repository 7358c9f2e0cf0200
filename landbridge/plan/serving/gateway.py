"""Model gateway of an environment: its settings, and the variables of the role model_gateway."""

from typing import Any

from landbridge.environment import Environment, ModelService
from landbridge.plan.network.hosts import service_hosts
from landbridge.plan.network.services.monitoring import exporter_port, monitoring_host
from landbridge.plan.network.services.serving import (
    calling_accounts,
    cloud_model_servers,
    followed_services,
    model_slots,
    serving_of,
    shared_name,
)
from landbridge.plan.serving.follow import EXPORT, GATEWAY_TOKEN, WAITING_ROOM, follow_settings
from landbridge.plan.serving.haproxy import (
    EXPORT_PATH,
    GatewayServer,
    GatewayService,
    GatewaySettings,
    haproxy_configuration,
)
from landbridge.plan.site.site_tls import AUTHORITY_FILE

#: Files of the role model_gateway.
FOLDER = "/etc/landbridge/model-gateway"
CALLERS, CERTIFICATE = f"{FOLDER}/callers.map", f"{FOLDER}/tls.pem"
SOCKET, STATE_FILE = "/run/haproxy/landbridge.sock", "/var/lib/haproxy/landbridge.state"


def gateway_services(environment: Environment) -> tuple[GatewayService, ...]:
    """Return the services of the gateway; empty without one."""
    serving = serving_of(environment)
    if serving is None:
        return ()
    return tuple(_service(environment, name, service) for name, service in serving.services.items())


def gateway_settings(environment: Environment) -> GatewaySettings | None:
    """Return the settings of HAProxy; None without a model gateway."""
    serving = serving_of(environment)
    if serving is None or any(host not in service_hosts(environment).addresses for host in serving.gateways):
        return None
    # A pair has one configuration: the shared address is at one of both, and moves while HAProxy runs.
    address = str(service_hosts(environment).addresses[serving.gateways[0]]) if len(serving.gateways) == 1 else "*"
    served, in_aws = service_hosts(environment), cloud_model_servers(environment)
    monitoring = served.addresses.get(monitoring_host(environment) or "")
    return GatewaySettings(
        listen=address,
        port=serving.port,
        certificate=CERTIFICATE,
        authority=AUTHORITY_FILE,
        callers=CALLERS,
        socket=SOCKET,
        state_file=STATE_FILE,
        metrics=f"{address}:{exporter_port('model_gateway')}" if monitoring is not None else "",
        metrics_client=str(monitoring or ""),
        export=EXPORT if follow_settings(environment, SOCKET, STATE_FILE) else "",
        away=tuple(str(served.addresses[host]) for host in in_aws if host in served.addresses),
        away_paths=_away_paths(environment),
        services=gateway_services(environment),
    )


def _away_paths(environment: Environment) -> tuple[str, ...]:
    """Return the paths of the export that hosts in AWS read: their own state, and the models that they serve."""
    in_aws = cloud_model_servers(environment)
    served = {slot.service for slot in model_slots(environment) if slot.host in in_aws}
    models = [service.model for name, service in followed_services(environment).items() if name in served]
    return (*(f"{EXPORT_PATH}hosts/{host}" for host in in_aws), *(f"{EXPORT_PATH}models/{model}/" for model in models))


def model_gateway_variables(environment: Environment) -> dict[str, Any]:
    """Return the variables of the role model_gateway, without tokens; empty without a gateway."""
    settings = gateway_settings(environment)
    if settings is None:
        return {}
    return {
        "model_gateway_configuration": haproxy_configuration(settings),
        "landbridge_model_callers": list(calling_accounts(environment)),
        "model_gateway_services": [
            {"name": service.name, "servers": [server.name for server in service.servers]}
            for service in settings.services
        ],
        "model_gateway_follow": follow_settings(environment, SOCKET, STATE_FILE),
        "model_gateway_find_links": service_hosts(environment).packages.python_find_links or "",
        "model_gateway_revoked": list(environment.mlops.revoked_signers),
    }


def gateway_host_variables(environment: Environment, host: str) -> dict[str, Any]:
    """Return the variables of one host of a pair: its part of the shared address, and its settings of the service; empty for another."""
    serving, served, shared = serving_of(environment), service_hosts(environment), shared_name(environment)
    if serving is None or host not in serving.gateways or shared is None or gateway_settings(environment) is None:
        return {}
    (other,) = (name for name in serving.gateways if name != host)
    variables: dict[str, Any] = {
        "model_gateway_shared_address": f"{served.addresses[shared]}/{served.cidr.prefixlen}",
        "model_gateway_address": str(served.addresses[host]),
        "model_gateway_peer": str(served.addresses[other]),
        "model_gateway_port": serving.port,
        "model_gateway_shared_priority": 200 - serving.gateways.index(host),
    }
    follow = follow_settings(environment, SOCKET, STATE_FILE)
    if follow:
        peer = {"host": other, "address": str(served.addresses[other]), "port": serving.port, "token": GATEWAY_TOKEN}
        variables["model_gateway_follow"] = {**follow, "host": host, "peer": peer}
    return variables


def service_path(name: str, service: ModelService) -> str:
    """Return the URL path prefix of a service: the Open Inference protocol's, or vLLM's own."""
    return f"/services/{name}" if service.runtime == "vllm" else f"/v2/models/{service.model}"


def _service(environment: Environment, name: str, service: ModelService) -> GatewayService:
    addresses = service_hosts(environment).addresses
    servers = tuple(
        GatewayServer(slot.server, slot.slot, slot.host, str(addresses[slot.host]), slot.port)
        for slot in model_slots(environment)
        if slot.service == name and slot.host in addresses
    )
    return GatewayService(
        name=name,
        path=service_path(name, service),
        accounts=service.accounts,
        concurrency=service.concurrency,
        max_request_bytes=service.max_request_kib * 1024,
        waiting_room=WAITING_ROOM.format(service=name) if service.canary and service.scale else "",
        client_rate=service.client_rate,
        servers=servers,
        health="/health" if service.runtime == "vllm" else f"/v2/models/{service.model}/ready",
        is_cut=service.runtime == "vllm",
        tls=service.runtime != "triton",
        # At its end Triton waits for connections, idle ones too, until its timeout, and exits with status 1 then (2.51.0, 2026-11-27).
        keeps_connections=service.runtime != "triton",
    )
