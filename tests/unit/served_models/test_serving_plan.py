"""Plan of serving: hosts, settings, firewall and units; and attempts from serving to training, each refused by its layers."""

import json
import re
from datetime import UTC, datetime
from ipaddress import IPv4Address, IPv4Network
from pathlib import Path

import pytest
from jinja2 import Environment as Templates
from jinja2 import StrictUndefined
from typer.testing import CliRunner

from landbridge import yaml_text
from landbridge.certificates import certificates_in, new_authority
from landbridge.cli.main import build
from landbridge.environment import Environment, load_environment
from landbridge.plan.ansible.inventory import inventory
from landbridge.plan.network.host_role import hosts
from landbridge.plan.network.services.mlflow_servers import mlflow_servers
from landbridge.plan.network.services.serving import model_slots
from landbridge.plan.serving.gateway import gateway_settings
from landbridge.plan.serving.haproxy import haproxy_configuration
from landbridge.plan.serving.model_servers import model_server_variables
from landbridge.plan.site.firewall import firewall_rules
from landbridge.plan.site.home_directories import home_exports
from landbridge.plan.site.secrets import generated_secrets
from landbridge.plan.site.site_tls import server_names
from landbridge.serving.follow.config import load_follow_config
from landbridge.serving.follow.waiting_room import room_socket
from landbridge.serving.host.config import load_host_config
from landbridge.serving.load import read_trust

ROOT = Path(__file__).parents[3]
SERVERS = [IPv4Address("10.20.0.31"), IPv4Address("10.20.0.32")]
GATEWAY, NODE = IPv4Address("10.20.0.33"), IPv4Address("10.20.1.11")


def written(folder: Path, settings: dict[str, object]) -> Path:
    """Return a file with the settings of a service."""
    file = folder / "settings.json"
    file.write_text(json.dumps(settings))
    return file


@pytest.fixture(scope="module")
def site() -> Environment:
    return load_environment(ROOT / "tests/unit/rules/full.yaml").environment


def admits(environment: Environment, group: str, source: IPv4Address, port: int) -> bool:
    """Return whether the firewall of a group's hosts permits a TCP connection."""
    for rule in firewall_rules(environment).get(group, ()):
        ranges = [tuple(map(int, (part.split("-") * 2)[:2])) for part in rule.ports]
        reaches = rule.protocol == "all" or (
            rule.protocol == "tcp" and any(low <= port <= high for low, high in ranges)
        )
        if reaches and (not rule.sources or any(source in IPv4Network(network) for network in rule.sources)):
            return True
    return False


def units(environment: Environment) -> list[str]:
    """Return the rendered units of the first host."""
    text = (ROOT / "ansible/roles/model_server/templates/landbridge-model.service.j2").read_text()
    template = Templates(undefined=StrictUndefined, trim_blocks=True).from_string(text)
    variables = model_server_variables(environment, "srv01") | {"model_server_memory_max": "4G", "ansible_managed": ""}
    return [
        template.render(variables | {"model_server_service": service, "model_server_slot": slot})
        for service in variables["model_server_services"]
        for slot in service["slots"]
    ]


def test_hosts_of_serving_have_their_groups_only(site: Environment) -> None:
    groups = {host.name: host.groups[1:] for host in hosts(site)}
    assert groups["srv01"] == groups["srv02"] == ("model_server",)
    assert groups["gwm01"] == ("model_gateway",)
    assert not {"nfs_client", "slurm_node"} & set(groups["srv01"])


def test_each_host_has_both_slots_of_a_service(site: Environment) -> None:
    slots = [(slot.host, slot.slot, slot.port) for slot in model_slots(site)]
    names = ("srv01", "srv02", "serve-az4-01", "serve-az4-02")
    assert slots == [(host, slot, port) for host in names for slot, port in (("a", 8500), ("b", 8501))]


def test_the_inventory_has_the_variables_of_both_roles(site: Environment) -> None:
    data = inventory(site)
    assert data["model_gateway"]["vars"]["model_gateway_configuration"].startswith("global\n")
    (service,) = data["_meta"]["hostvars"]["srv01"]["model_server_services"]
    assert service["account"] == "model-digits"
    assert service["slots"][0]["settings"]["shadow"] == "https://srv01:8501"
    assert {"srv01", "srv02", "gwm01"} <= set(server_names(site))


def test_a_calling_account_has_a_token(site: Environment) -> None:
    assert "model-token-lab" in generated_secrets(site)


def test_the_gateway_verifies_each_server_and_names_its_accounts(site: Environment) -> None:
    settings = gateway_settings(site)
    assert settings is not None
    text = haproxy_configuration(settings)
    assert "server a-srv01 10.20.0.31:8500 weight 100 verifyhost srv01" in text
    assert "server b-srv02 10.20.0.32:8501 weight 0 verifyhost srv02" in text
    assert "deny_status 403 if is-digits !{ var(txn.caller) -m str lab }" in text


def test_a_followed_service_has_its_settings_secrets_and_one_way_to_mlflow(site: Environment, tmp_path: Path) -> None:
    data = inventory(site)
    follow = data["model_gateway"]["vars"]["model_gateway_follow"]
    (service,) = follow["services"]
    assert service["canary"] == {
        "weights": [5, 25],
        "requests": 200,
        "step_seconds": 120.0,
        "shadow": True,
        "disagreement": 0.05,
    }
    assert service["scale"] == {"least": 1, "most": 4, "host_rate": 80.0, "idle_seconds": 900.0}
    assert [server["url"] for server in service["servers"]][:2] == [
        "https://srv01:8500/metrics",
        "https://srv01:8501/metrics",
    ]
    config = load_follow_config(written(tmp_path, follow))
    assert config.services[0].schedule.weights == (5, 25)
    room = room_socket(config.export, "digits")
    assert (
        f"server wait unix@{room} backup maxconn 256\n" in data["model_gateway"]["vars"]["model_gateway_configuration"]
    )
    host = data["_meta"]["hostvars"]["srv02"]["model_server_follow"]
    assert load_host_config(written(tmp_path, host)).services["digits"].units["b"] == "landbridge-model-digits-b"
    assert {"model-host", "mlflow-serving"} <= set(generated_secrets(site))
    (server,) = [each for each in mlflow_servers(site) if each.data_class == "internal"]
    # The gateway reaches the server of the service's class; the others, and each host of model servers, are closed.
    assert admits(site, "mlflow", GATEWAY, server.port)
    others = [each.port for each in mlflow_servers(site) if each.port != server.port]
    assert others and not any(admits(site, "mlflow", GATEWAY, port) for port in others)
    assert not any(admits(site, "mlflow", source, port) for source in SERVERS for port in (server.port, *others))
    assert all(admits(site, "model_gateway", source, 8443) for source in SERVERS)
    text = data["model_gateway"]["vars"]["model_gateway_configuration"]
    assert "server export unix@/run/landbridge-serving/export.sock" in text and "group haproxy mode 660" in text


def test_without_a_canary_no_host_of_serving_reaches_mlflow(site: Environment) -> None:
    assert site.serving is not None
    services = {
        name: service.model_copy(update={"canary": None, "scale": None})
        for name, service in site.serving.services.items()
    }
    closed = site.model_copy(update={"serving": site.serving.model_copy(update={"services": services})})
    ports = [server.port for server in mlflow_servers(closed)]
    assert not any(admits(closed, "mlflow", source, port) for source in (GATEWAY, *SERVERS) for port in ports)
    assert not {"model-host", "mlflow-serving"} & set(generated_secrets(closed))
    assert inventory(closed)["model_gateway"]["vars"]["model_gateway_follow"] == {}


def test_the_services_that_follow_the_registry_have_no_right_of_root(site: Environment) -> None:
    templates = Templates(undefined=StrictUndefined, trim_blocks=True)
    data, roles = inventory(site), ROOT / "ansible/roles"
    variables = data["model_gateway"]["vars"] | {"ansible_managed": "", "model_gateway_root": "/opt/landbridge"}
    unit = (roles / "model_gateway/templates/landbridge-serving.service.j2").read_text()
    lines = templates.from_string(unit).render(variables | {"model_gateway_memory_max": "4G"}).splitlines()
    assert {"User=landbridge-serving", "Group=haproxy", "CapabilityBoundingSet=", "NoNewPrivileges=yes"} <= set(lines)
    assert "ReadWritePaths=/var/lib/landbridge-serving /var/lib/haproxy" in lines
    assert not any("password" in line.lower() for line in lines)
    variables = data["_meta"]["hostvars"]["srv01"] | {"ansible_managed": "", "model_server_root": "/opt/landbridge"}
    unit = (roles / "model_server/templates/landbridge-model-host.service.j2").read_text()
    lines = templates.from_string(unit).render(variables | {"model_server_memory_max": "4G"}).splitlines()
    allowed = [line.partition("=")[2] for line in lines if line.startswith("IPAddressAllow=")]
    assert "IPAddressDeny=any" in lines and allowed == ["localhost", str(GATEWAY)]


def test_the_trust_of_a_host_names_revoked_signers(site: Environment, tmp_path: Path) -> None:
    variables = model_server_variables(site, "srv01")
    assert variables["model_server_revoked"] == ["5f3a90c1"]
    (task,) = [
        task
        for task in yaml_text.load((ROOT / "ansible/roles/model_server/tasks/main.yml").read_text())
        if task["name"] == "Copy the trust for signatures of models"
    ]
    templates = Templates(undefined=StrictUndefined)
    templates.filters["regex_replace"] = lambda text, pattern, new: re.sub(pattern, new, text)
    _, certificate = new_authority("Test CA", datetime(2026, 11, 26, tzinfo=UTC))
    content = templates.from_string(task["ansible.builtin.copy"]["content"])
    (tmp_path / "trust.pem").write_text(content.render(variables | {"model_server_trust": certificate.decode()}))
    trust = read_trust(tmp_path / "trust.pem")
    assert trust.revoked == {"5f3a90c1"} and list(trust.authorities) == certificates_in(certificate.decode())


def test_only_the_gateway_reaches_model_servers(site: Environment) -> None:
    assert admits(site, "model_server", GATEWAY, 8500)
    assert not any(admits(site, "model_server", source, 8500) for source in (NODE, *SERVERS))
    assert admits(site, "model_gateway", NODE, 8443)


@pytest.mark.parametrize(
    ("attempt", "group", "port"),
    [
        ("NFS mount of the homes", "nfs_server", 2049),
        ("slurmctld", "slurm_controller", 6817),
        ("a task of a node", "slurm_node", 6818),
        ("any port of a node", "slurm_node", 29500),
        ("slurmdbd", "slurm_database", 6819),
        ("a run in MLflow", "mlflow", 5000),
        ("an object of the object store", "object_store", 7070),
        ("another host's model", "model_server", 8500),
        ("Prometheus", "monitoring", 9091),
    ],
)
def test_an_attempt_from_serving_is_refused_by_firewall_and_unit(
    site: Environment, attempt: str, group: str, port: int
) -> None:
    """The firewall of the target refuses it, and so does the unit of the model server, each alone."""
    assert firewall_rules(site).get(group), attempt
    assert not any(admits(site, group, source, port) for source in SERVERS), attempt
    if group not in ("model_server", "monitoring", "object_store"):
        assert admits(site, group, NODE, port) or admits(site, group, IPv4Address("10.20.0.11"), port), attempt
    for unit in units(site):
        allowed = [line.partition("=")[2] for line in unit.splitlines() if line.startswith("IPAddressAllow=")]
        assert "IPAddressDeny=any" in unit
        # The gateway, Prometheus, whose scrapes it answers, and its own address for copies to the other slot.
        assert set(allowed) == {"localhost", str(GATEWAY), "10.20.0.15", "10.20.0.31"}


def test_exports_refuse_hosts_of_serving(site: Environment) -> None:
    (export,) = home_exports(site)
    networks = [IPv4Network(client) for client in export["clients"]]
    assert not any(address in network for network in networks for address in (*SERVERS, GATEWAY))
    assert any(NODE in network for network in networks)


def test_a_unit_sees_the_models_of_its_own_service_only(site: Environment) -> None:
    for unit in units(site):
        lines = unit.splitlines()
        assert "User=model-digits" in lines
        assert "TemporaryFileSystem=/var/lib/landbridge-models:ro" in lines
        assert [line for line in lines if line.startswith("BindReadOnlyPaths")] == [
            "BindReadOnlyPaths=/var/lib/landbridge-models/digits"
        ]
        assert {"ProtectHome=yes", "ProtectSystem=strict", "NoNewPrivileges=yes", "CapabilityBoundingSet="} <= set(
            lines
        )


@pytest.mark.parametrize("release", ["triton", "triton-2.51.0", "vllm"])
def test_a_program_knows_each_option_of_its_unit(site: Environment, release: str) -> None:
    """The options are compared with those of the program's own parser (program_options.json has version and source)."""
    assert site.serving is not None
    runtime = release.partition("-")[0]
    service = site.serving.services["digits"].model_copy(update={"runtime": runtime, "canary": None, "shadow": False})
    other = site.model_copy(update={"serving": site.serving.model_copy(update={"services": {"digits": service}})})
    known = set(json.loads(Path(__file__).with_name("program_options.json").read_text())[release]["options"])
    for unit in units(other):
        (line,) = [line for line in unit.splitlines() if line.startswith("ExecStart=")]
        check, _, command = line.partition(" -- ")
        assert "-m landbridge.serving.server.program --folder=/var/lib/landbridge-models/digits/" in check
        options = {word.partition("=")[0] for word in command.split() if word.startswith("--")}
        assert len(options) >= 7 and options <= known, options - known
        lines = unit.splitlines()
        assert {
            "RestartPreventExitStatus=78",
            "PrivateDevices=no",
            "IPAddressDeny=any",
            "LimitCORE=0",
            "MemorySwapMax=0",
        } <= set(lines)
        # vLLM writes a cache, and would send statistics: its home is hidden.
        assert ("CacheDirectory=%N" in lines) is ("Environment=VLLM_NO_USAGE_STATS=1" in lines) is (runtime == "vllm")


def test_a_shadow_has_its_tolerance_and_limit(site: Environment) -> None:
    assert site.serving is not None
    first = site.serving.services["digits"]
    assert first.canary is not None
    canary = first.canary.model_copy(update={"disagreement": 0.03})
    service = first.model_copy(update={"shadow": True, "shadow_tolerance": 0.2, "canary": canary})
    other = site.model_copy(update={"serving": site.serving.model_copy(update={"services": {"digits": service}})})
    (variables,) = model_server_variables(other, "srv01")["model_server_services"]
    settings = variables["slots"][0]["settings"]
    assert (settings["shadow_absolute"], settings["shadow_relative"]) == (0.001, 0.2)
    (followed,) = inventory(other)["model_gateway"]["vars"]["model_gateway_follow"]["services"]
    assert followed["canary"] | {"shadow": True, "disagreement": 0.03} == followed["canary"]


def test_serve_list_prints_model_hosts_and_url() -> None:
    file = str(ROOT / "tests/unit/rules/full.yaml")
    printed = CliRunner().invoke(build(), ["serve", "list", "--file", file, "--format", "json"])
    (row,) = json.loads(printed.stdout)["services"]
    assert (row["alias"], row["hosts"]) == ("champion", ["srv01", "srv02", "serve-az4-01", "serve-az4-02"])
    assert row["url"] == "https://gwm01:8443/v2/models/digits"
    assert (
        "digits@champion on srv01, srv02, serve-az4-01, serve-az4-02: p95 50 ms at 100/s"
        in CliRunner().invoke(build(), ["serve", "list", "--file", file]).stdout
    )
