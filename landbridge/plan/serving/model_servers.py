"""Model servers of a host: settings, account, command line and unit of each slot. Pure."""

from typing import Any

from landbridge.catalog.models.canary import canary_facts
from landbridge.environment import Environment, ModelService
from landbridge.plan.network.hosts import service_hosts
from landbridge.plan.network.services.monitoring import monitoring_host
from landbridge.plan.network.services.serving import (
    SLOTS,
    ModelSlot,
    model_gateway_hosts,
    model_port,
    model_slots,
    serving_of,
)
from landbridge.plan.resource_names import shortened
from landbridge.plan.site.site_tls import AUTHORITY_FILE

#: Folder of model folders: SERVICE/VERSION, and the links SERVICE/a and SERVICE/b of the slots.
MODELS = "/var/lib/landbridge-models"
#: Folder of settings: a folder of each service, readable by its account.
SETTINGS = "/etc/landbridge/models"
#: Certificates and keys whose signatures of models are accepted.
TRUST = f"{SETTINGS}/trust.pem"
#: Longest name of a Unix account. Source: useradd(8), CAVEATS.
_ACCOUNT_CHARACTERS = 32
#: Repository of a Triton unit: the model folder of its slot is bound to NAME/1 in it.
TRITON_REPOSITORY = "/run/landbridge-triton"
#: Memory limit of Landbridge's model server, whose ONNX files are smaller than 2 GiB.
_ONNX_MEMORY_GIB = 4
_PYTHON = "/opt/landbridge/model-server/bin/python"
#: Variables of a program: no telemetry, no download, and a cache below CacheDirectory=. Source: vLLM 0.33.0, vllm/envs.py; Hugging Face
#: Hub documentation, "Environment variables" (2026-11-26).
_ENVIRONMENT = {
    "vllm": ["VLLM_NO_USAGE_STATS=1", "VLLM_DO_NOT_TRACK=1", "HF_HUB_OFFLINE=1", "VLLM_CACHE_ROOT=%C/%N", "HOME=%C/%N"]
}


def model_server_variables(environment: Environment, host: str) -> dict[str, Any]:
    """Return the variables of the role model_server for one host; empty for another."""
    serving = serving_of(environment)
    slots = [slot for slot in model_slots(environment) if slot.host == host]
    if serving is None or not slots:
        return {}
    return {
        "model_server_models": MODELS,
        "model_server_find_links": service_hosts(environment).packages.python_find_links or "",
        "model_server_revoked": list(environment.mlops.revoked_signers),
        "model_server_clients": list(_clients(environment, host)),
        "model_server_services": [
            _service(environment, name, service, [slot for slot in slots if slot.service == name])
            for name, service in serving.services.items()
            if any(slot.service == name for slot in slots)
        ],
    }


def command_line(service: ModelService, name: str, slot: ModelSlot, address: str) -> list[str]:
    """Return the command line of a slot's unit: Landbridge's model server, Triton or vLLM.

    Triton's HTTP has no TLS; a rule reports it. Sources (2026-11-26): Triton Inference Server, src/command_line_parser.cc; vLLM 0.33.0,
    engine/arg_utils.py and entrypoints/common/cli_args.py.
    """
    folder, certificate = f"{MODELS}/{name}/{slot.slot}", f"{SETTINGS}/{name}/tls.pem"
    if service.runtime == "onnx":
        config = f"{SETTINGS}/{name}/{slot.slot}.json"
        return [_PYTHON, "-I", "-m", "landbridge.serving.server.service", "--config", config]
    if service.runtime == "triton":
        return [
            "/opt/tritonserver/bin/tritonserver",
            f"--model-repository={TRITON_REPOSITORY}",
            "--model-control-mode=none",
            "--strict-readiness=true",
            # Triton completes the configuration of an ONNX model: without this it joins requests of different clients wherever a first
            # dimension is variable, and refuses those of more than 4 rows. Source: onnxruntime_backend, AutoCompleteMaxBatch (2026-11-27).
            "--backend-config=default-max-batch-size=0",
            f"--http-address={address}",
            f"--http-port={slot.port}",
            "--allow-grpc=false",
            "--allow-metrics=true",
            # At the port of its HTTP, on another address: with Triton's default of 8002 for all, a second slot of the host ends.
            "--metrics-address=127.0.0.1",
            f"--metrics-port={slot.port}",
            "--exit-timeout-secs=30",
        ]
    return [
        "/opt/vllm/bin/vllm",
        "serve",
        folder,
        f"--served-model-name={service.model}",
        "--load-format=safetensors",
        f"--host={address}",
        f"--port={slot.port}",
        f"--ssl-certfile={certificate}",
        f"--ssl-keyfile={certificate}",
        f"--max-num-seqs={service.concurrency}",
        "--no-enable-log-requests",
        # Without it, requests in flight are aborted at the end. Source: vLLM 0.33.0, engine/arg_utils.py.
        "--shutdown-timeout=30",
    ]


def folder_check(service: ModelService, name: str, slot: ModelSlot) -> list[str]:
    """Return the command line that verifies the folder of a slot before Triton or vLLM; empty for a server that does it itself."""
    if service.runtime == "onnx" or service.unsigned:
        return []
    module = [_PYTHON, "-I", "-m", "landbridge.serving.server.program"]
    folder = f"{MODELS}/{name}/{slot.slot}"
    return [
        *module,
        f"--folder={folder}",
        f"--trust={TRUST}",
        f"--model={service.model}",
        f"--data-class={service.data_class}",
        "--",
    ]


def account(service: str) -> str:
    """Return the Unix account of a service's model servers."""
    return shortened(f"model-{service}", _ACCOUNT_CHARACTERS)


def server_settings(environment: Environment, service: ModelService, slot: ModelSlot) -> dict[str, Any]:
    """Return the settings of Landbridge's model server for a slot."""
    other = next(name for name in SLOTS if name != slot.slot)
    served = service_hosts(environment)
    return {
        "service": slot.service,
        "model": service.model,
        "data_class": service.data_class,
        "folder": f"{MODELS}/{slot.service}/{slot.slot}",
        "trust": TRUST,
        "listen": str(served.addresses.get(slot.host, "127.0.0.1")),
        "port": slot.port,
        "certificate": f"{SETTINGS}/{slot.service}/tls.pem",
        "authority": AUTHORITY_FILE,
        "threads": service.threads,
        "concurrency": service.concurrency,
        "max_request_bytes": service.max_request_kib * 1024,
        "client_rate": service.client_rate,
        "metrics_client": str(served.addresses.get(monitoring_host(environment) or "", "")),
        "shadow": f"https://{slot.host}:{model_port(service, other)}" if service.shadow else "",
        "shadow_absolute": canary_facts().shadow.absolute_tolerance.value,
        "shadow_relative": service.shadow_tolerance,
    }


def _service(environment: Environment, name: str, service: ModelService, slots: list[ModelSlot]) -> dict[str, Any]:
    address = str(service_hosts(environment).addresses.get(slots[0].host, "127.0.0.1"))
    return {
        "name": name,
        "model": service.model,
        "account": account(name),
        "runtime": service.runtime,
        "environment": _ENVIRONMENT.get(service.runtime, []),
        "memory_max": _memory_max(service),
        "slots": [
            {
                "name": slot.slot,
                "port": slot.port,
                "unit": slot.unit,
                "settings": server_settings(environment, service, slot) if service.runtime == "onnx" else {},
                "check": folder_check(service, name, slot),
                "command": command_line(service, name, slot, address),
                "gpu": service.runtime != "onnx",
                "bind": f"{TRITON_REPOSITORY}/{service.model}/1" if service.runtime == "triton" else "",
            }
            for slot in slots
        ],
    }


def _memory_max(service: ModelService) -> str:
    """Return systemd's MemoryMax= of a slot. A large model needs more than any common limit: Triton and vLLM have none unless it is given."""
    if service.memory_gib is not None:
        return f"{service.memory_gib}G"
    return f"{_ONNX_MEMORY_GIB}G" if service.runtime == "onnx" else "infinity"


def _clients(environment: Environment, host: str) -> tuple[str, ...]:
    """Return the addresses with which a model server may exchange packets: the gateway, Prometheus and its own host."""
    addresses = service_hosts(environment).addresses
    serving = serving_of(environment)
    # A copy for the shadow goes to this host's own address, the name in its certificate.
    copies = serving is not None and any(service.shadow for service in serving.services.values())
    hosts = (*model_gateway_hosts(environment), monitoring_host(environment), host if copies else None)
    return (
        "localhost",
        *dict.fromkeys(str(addresses[host]) for host in hosts if host is not None and host in addresses),
    )
