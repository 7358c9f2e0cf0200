"""Settings of Triton and vLLM that their first starts needed."""

from pathlib import Path

import pytest

from landbridge.environment import Environment
from landbridge.plan.serving.gateway import gateway_settings
from landbridge.plan.serving.haproxy import haproxy_configuration
from landbridge.plan.serving.model_servers import model_server_variables
from tests.unit.served_models.programs.triton import site_with

UNIT = Path(__file__).parents[4] / "ansible/roles/model_server/templates/landbridge-model.service.j2"
OWN_CONNECTIONS = "option http-server-close"


def options(site: Environment, name: str) -> list[str]:
    """Return the values of an option in the commands of a host's slots."""
    (service,) = model_server_variables(site, "srv01")["model_server_services"]
    words = [word.partition("=") for slot in service["slots"] for word in slot["command"]]
    return [value for option, _, value in words if option == name]


def changed(runtime: str, **changes: object) -> Environment:
    """Return the environment whose service has another runtime and other changes."""
    site = site_with(runtime)
    assert site.serving is not None
    service = site.serving.services["digits"].model_copy(update=changes)
    return site.model_copy(update={"serving": site.serving.model_copy(update={"services": {"digits": service}})})


def configuration(runtime: str) -> str:
    """Return the gateway's configuration for a service with a runtime."""
    settings = gateway_settings(site_with(runtime))
    assert settings is not None
    return haproxy_configuration(settings)


def test_slots_of_triton_have_different_ports_of_metrics() -> None:
    """With one port for both, the second server of a host ends at its start."""
    site = site_with("triton")
    assert options(site, "--metrics-port") == options(site, "--http-port") == ["8500", "8501"]
    assert options(site, "--metrics-address") == ["127.0.0.1"] * 2
    assert options(site, "--http-address") == ["10.20.0.31"] * 2


@pytest.mark.parametrize(("runtime", "is_closed"), [("triton", True), ("vllm", False), ("onnx", False)])
def test_the_gateway_closes_connections_to_triton_after_each_answer(runtime: str, is_closed: bool) -> None:
    """Triton waits at its end for idle connections until its timeout."""
    assert (OWN_CONNECTIONS in configuration(runtime)) is is_closed


def test_triton_joins_no_requests_of_different_clients() -> None:
    assert options(site_with("triton"), "--backend-config") == ["default-max-batch-size=0"] * 2


def test_vllm_ends_its_requests_before_systemd_kills_it() -> None:
    """Without a timeout its requests in flight got no answer, and the process went on until systemd's SIGKILL after 60 s."""
    assert options(site_with("vllm"), "--shutdown-timeout") == ["30"] * 2
    assert "TimeoutStopSec=60" in UNIT.read_text()


def test_the_gateway_repeats_a_request_that_an_ending_vllm_gives_up() -> None:
    """Without it, 11 of 47 requests got the status 500 while one of two servers ended."""
    line = "    retry-on conn-failure empty-response 500 503\n"
    assert line in configuration("vllm")
    assert line not in configuration("onnx")


def test_a_long_answer_of_vllm_is_not_generated_again() -> None:
    backend = configuration("vllm").partition("backend model-digits\n")[2].partition("\nbackend ")[0]
    assert "response-timeout" not in backend and "    timeout server 600s\n" in backend
    assert "timeout server 600s" not in configuration("onnx")


@pytest.mark.parametrize(("runtime", "is_denied"), [("triton", True), ("onnx", False), ("vllm", False)])
def test_clients_do_not_change_tritons_trace_settings(runtime: str, is_denied: bool) -> None:
    line = "http-request deny deny_status 404 if { path_beg /v2/models/digits/trace/ }"
    assert (line in configuration(runtime)) is is_denied


def test_clients_reach_vllm_only_below_v1() -> None:
    """Its other paths abort requests of any client (`/inference/v1/abort_requests`) and change its scale."""
    line = "http-request deny deny_status 404 unless { path_beg /services/digits/v1/ }"
    assert line in configuration("vllm")
    assert line not in configuration("triton")


@pytest.mark.parametrize("runtime", ["triton", "vllm"])
def test_a_folder_is_checked_before_its_program_starts(runtime: str) -> None:
    (service,) = model_server_variables(site_with(runtime), "srv01")["model_server_services"]
    folder = "--folder=/var/lib/landbridge-models/digits"
    arguments = ["--trust=/etc/landbridge/models/trust.pem", "--model=digits", "--data-class=internal", "--"]
    assert [slot["check"][4:] for slot in service["slots"]] == [[f"{folder}/{slot}", *arguments] for slot in "ab"]


@pytest.mark.parametrize(("runtime", "unsigned"), [("onnx", False), ("vllm", True), ("triton", True)])
def test_no_check_precedes_a_server_that_verifies_or_a_service_with_unsigned_folders(
    runtime: str, unsigned: bool
) -> None:
    (service,) = model_server_variables(changed(runtime, unsigned=unsigned), "srv01")["model_server_services"]
    assert [slot["check"] for slot in service["slots"]] == [[], []]


@pytest.mark.parametrize(
    ("runtime", "memory_gib", "limit"),
    [
        ("onnx", None, "4G"),
        ("onnx", 12, "12G"),
        ("triton", None, "infinity"),
        ("vllm", None, "infinity"),
        ("vllm", 64, "64G"),
    ],
)
def test_a_service_has_its_memory_limit(runtime: str, memory_gib: int | None, limit: str) -> None:
    (service,) = model_server_variables(changed(runtime, memory_gib=memory_gib), "srv01")["model_server_services"]
    assert service["memory_max"] == limit
    assert "MemoryMax={{ model_server_service.memory_max " in UNIT.read_text()
