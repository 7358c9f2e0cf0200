"""Rule about the scale of a model service by its load."""

from collections.abc import Iterator

from landbridge.environment import Environment
from landbridge.findings import DataPath, Finding, error, warning
from landbridge.rules.registry import rule


@rule
def serving_scale(environment: Environment) -> Iterator[Finding]:
    """A service that scales follows the registry at one gateway, and its most hosts hold the rate of its objective.

    The gateway that counts the requests sets the number of hosts; the other one of a pair does not know its load.
    Source: Landbridge (docs/decisions/0110-scale-by-load-and-to-zero.md).
    """
    serving = environment.serving
    if serving is None:
        return
    for name, service in serving.services.items():
        scale = service.scale
        path: DataPath = ("serving", "services", name, "scale")
        if scale is None:
            continue
        if service.canary is None:
            message = "model servers without canary are started by hand, so nothing scales them"
            yield error(path, message, fix="write canary: {}", related=(("serving", "services", name, "canary"),))
        if len(serving.gateways) > 1:
            message = "two gateways do not know the load of each other"
            yield error(path, message, fix="remove it, or keep one gateway", related=(("serving", "gateway"),))
        replicas: tuple[DataPath, ...] = (("serving", "services", name, "replicas"),)
        if scale.least > service.replicas:
            message = f"least is {scale.least}, and the service has {service.replicas} replicas"
            yield error((*path, "least"), message, fix="write at most replicas", related=replicas)
        most = scale.host_rate * service.replicas
        if most < service.objective.rate:
            message = (
                f"{service.replicas} hosts hold {most:g} requests/s, and the objective is {service.objective.rate:g}"
            )
            related = (*replicas, ("serving", "services", name, "objective", "rate"))
            yield warning((*path, "host_rate"), message, fix="write more replicas", related=related)
