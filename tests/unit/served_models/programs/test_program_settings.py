"""Settings of Triton and vLLM that their first starts needed."""

import pytest

from landbridge.environment import Environment
from landbridge.plan.serving.gateway import gateway_settings
from landbridge.plan.serving.haproxy import haproxy_configuration
from landbridge.plan.serving.model_servers import model_server_variables
from tests.unit.served_models.programs.triton import site_with

OWN_CONNECTIONS = "option http-server-close"


def options(site: Environment, name: str) -> list[str]:
    """Return the values of an option in the commands of a host's slots."""
    (service,) = model_server_variables(site, "srv01")["model_server_services"]
    words = [word.partition("=") for slot in service["slots"] for word in slot["command"]]
    return [value for option, _, value in words if option == name]


def test_slots_of_triton_have_different_ports_of_metrics() -> None:
    """With one port for both, the second server of a host ends at its start."""
    site = site_with("triton")
    assert options(site, "--metrics-port") == options(site, "--http-port") == ["8500", "8501"]
    assert options(site, "--metrics-address") == ["127.0.0.1"] * 2
    assert options(site, "--http-address") == ["10.20.0.31"] * 2


@pytest.mark.parametrize(("runtime", "is_closed"), [("triton", True), ("vllm", False), ("onnx", False)])
def test_the_gateway_closes_connections_to_triton_after_each_answer(runtime: str, is_closed: bool) -> None:
    """Triton waits at its end for idle connections until its timeout."""
    settings = gateway_settings(site_with(runtime))
    assert settings is not None
    assert (OWN_CONNECTIONS in haproxy_configuration(settings)) is is_closed
