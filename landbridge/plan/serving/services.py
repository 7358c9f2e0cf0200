"""Services of an environment as rows, for `landbridge serve list`."""

from typing import Any

from landbridge.environment import Environment
from landbridge.plan.network.services.serving import model_slots, serving_of
from landbridge.plan.serving.gateway import service_path


def served_models(environment: Environment) -> list[dict[str, Any]]:
    """Return a row for each service."""
    serving = serving_of(environment)
    if serving is None:
        return []
    slots = model_slots(environment)
    return [
        {
            "service": name,
            "model": service.model,
            "alias": service.alias,
            "data_class": service.data_class,
            "hosts": list(dict.fromkeys(slot.host for slot in slots if slot.service == name)),
            "url": f"https://{serving.gateway_name}:{serving.port}{service_path(name, service)}",
            "accounts": list(service.accounts),
            "p95_ms": service.objective.p95_ms,
            "rate": service.objective.rate,
        }
        for name, service in serving.services.items()
    ]
