"""Rules about services whose models Triton or vLLM serves."""

from collections.abc import Iterator

from landbridge.environment import Environment
from landbridge.findings import DataPath, Finding, error, warning
from landbridge.rules.registry import rule

_SERVICES: DataPath = ("serving", "services")


@rule
def serving_without_tls(environment: Environment) -> Iterator[Finding]:
    """Requests are encrypted up to the model server.

    Source: Triton Inference Server, "Inference Protocols and APIs" (its HTTP endpoint has no TLS).
    """
    if environment.serving is None:
        return
    for name, service in environment.serving.services.items():
        if service.runtime == "triton":
            message = "Triton's HTTP has no TLS: requests cross the network from the gateway to it in clear text"
            yield warning((*_SERVICES, name, "runtime"), message, fix="use a network of its own, or the runtime onnx")


@rule
def serving_unsigned(environment: Environment) -> Iterator[Finding]:
    """Model servers load signed folders.

    Source: Landbridge (docs/how-to/serve-a-model.md); Triton Inference Server, "Python Backend" (a folder may contain code).
    """
    if environment.serving is None:
        return
    for name, service in environment.serving.services.items():
        path = (*_SERVICES, name, "unsigned")
        if not service.unsigned:
            continue
        if service.runtime == "onnx":
            message = "Landbridge's model server serves signed models only"
            yield error(path, message, fix="remove it", related=((*_SERVICES, name, "runtime"),))
        else:
            message = f"{service.runtime} loads any files of its folder, and some formats contain code"
            yield warning(path, message, fix="sign the folder (landbridge model sign FOLDER), and remove this key")
