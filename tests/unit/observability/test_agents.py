"""Memory and processor time of all agents on a GPU node: the recorded measurements (agents.yaml), and measurements of this machine."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from landbridge.plan.ansible.inventory import inventory
from tests.roles.jobs.program_module import ROLES
from tests.unit.core.samples import GOOD, environment
from tests.unit.observability import agent_use
from tests.unit.observability.agent_use import Use

RECORDED: Mapping[str, Any] = yaml.safe_load(Path(__file__).with_name("agents.yaml").read_text())
AGENTS: Mapping[str, Mapping[str, Any]] = RECORDED["agents"]
PAGE = Path(__file__).parents[3] / "docs/how-to/watch-a-cluster.md"
#: Bounds of all agents together: a share of one core, and MiB of 150 MB.
CORE, MIB = 0.01, 150e6 / 2**20
#: Roles of GPU nodes with a unit that runs only at boot, for a job, or for a person; those of Slurm, of the driver and of file systems.
NO_AGENTS = {
    "base", "cloud_identity", "cloud_metrics", "cloud_storage", "dcgm", "dcgm_exporter", "efs_utils", "gdrcopy", "hardening", "lustre_client", "metadata_guard", "mig",
    "nfs_client", "node_actions", "node_verify", "nvidia_container_toolkit", "nvidia_driver", "nvidia_fabric", "podman", "rdma", "roles_anywhere", "scratch", "site_tls", "slurm_common", "slurm_node",
    "training_runtime", "tuning",
}  # fmt: skip
#: Roles of other hosts.
ELSEWHERE = {
    "burst", "data_mover", "database_exporter", "home_copies", "log_store", "mlflow", "model_gateway", "model_server", "nfs_server", "object_store", "pipelines",
    "prometheus", "site_dns", "site_gateway", "site_timers", "slurm_controller", "slurm_database", "slurm_rest", "state_volume", "users",
}  # fmt: skip


def core_share(place: str, gpus: int = 1) -> float:
    """Return the share of a core; with several GPUs at most, as if all of nvidia-smi's time were for each GPU."""
    return sum(
        (agent["cpu"] + (gpus - 1) * agent.get("gpu", 0)) / agent["every"]
        for agent in AGENTS.values()
        if agent[place] and agent["every"]
    )


def mib(place: str) -> float:
    """Return the memory of the resident agents, and of all others as if they ran at the same time."""
    return float(sum(agent["mib"] for agent in AGENTS.values() if agent[place]))


def test_each_role_with_a_unit_is_an_agent_or_is_none() -> None:
    with_units = {
        path.relative_to(ROLES).parts[0]
        for path in ROLES.rglob("*")
        if path.is_file() and any(f".{kind}" in path.name for kind in ("service", "timer", "socket", "path"))
    }
    known = {agent["role"] for agent in AGENTS.values()}
    assert with_units - known - NO_AGENTS - ELSEWHERE == set()
    assert known & (NO_AGENTS | ELSEWHERE) == set()


def test_the_planned_gpu_node_has_these_agents_at_these_intervals() -> None:
    node = {**GOOD["onprem"]["nodes"][0], "local_scratch": "/scratch"}
    staging = {
        "folder": "/export/home/datasets",
        "mount": "/home/datasets",
        "cache": {"size_gib": 500},
        "groups": {"internal": "lab"},
    }
    changes: dict[tuple[str | int, ...], Any] = {
        ("onprem", "services", "monitoring"): "mlops01",
        ("onprem", "services", "logs"): "mlops01",
        ("observability",): {"timers": {}},
        ("onprem", "nodes"): [node],
        ("storage", "staging"): staging,
    }
    variables = inventory(environment(changes))["_meta"]["hostvars"]["dgx01"]
    assert variables["landbridge_monitoring"] and variables["landbridge_dcgm_exporter"]
    assert variables["node_exporter_seconds"] == AGENTS["metrics of certificates"]["every"]
    assert variables["dataset_cache_config"]["root"] == "/scratch/datasets"
    defaults = yaml.safe_load((ROLES / "node_health/defaults/main.yml").read_text())
    assert (
        "node_health_seconds" not in variables and defaults["node_health_seconds"] == AGENTS["health checks"]["every"]
    )


def test_the_agents_of_a_node_with_one_gpu_are_under_the_bounds() -> None:
    assert core_share("site") < CORE and core_share("aws") < CORE
    assert mib("site") < MIB and mib("aws") < MIB


def test_what_is_not_under_the_bounds_is_stated() -> None:
    """Eight GPUs by the highest estimate, and DCGM's exporter by all published figures."""
    assert core_share("site", 8) > CORE
    assert all(published["mib"] > MIB for published in RECORDED["dcgm"])
    defaults = yaml.safe_load((ROLES / "dcgm_exporter/defaults/main.yml").read_text())
    assert defaults["dcgm_exporter_memory_mib"] > 1.4 * max(published["mib"] for published in RECORDED["dcgm"])


def test_the_page_has_the_measurements() -> None:
    text = PAGE.read_text()
    for name, agent in AGENTS.items():
        percent = f"{100 * agent['cpu'] / agent['every']:.2f}" if agent["every"] else "-"
        assert f"| {name} | {agent['mib'] or '-'} | {percent} |" in text
    for place, words in (("site", "site"), ("aws", "AWS")):
        assert f"| all on a node of the {words}, one GPU | {mib(place):.0f} | {100 * core_share(place):.2f} |" in text
    assert f"at most {100 * core_share('site', 8):.1f} percent" in text


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Use]:
    folder = tmp_path_factory.mktemp
    return {
        "node exporter": agent_use.node_exporter(folder("exporter"), 50),
        "metrics of certificates": agent_use.host_metrics(folder("host"), 5),
        "result for Slurm": agent_use.node_health(5),
        "credentials of jobs": agent_use.job_credentials(folder("credentials"), 20),
        "cache of datasets": agent_use.dataset_cache(folder("cache")),
        "agent of a cloud node": agent_use.cloud_agent(folder("agent"), 5),
    }


def test_the_programs_have_the_recorded_memory_on_this_machine(measured: Mapping[str, Use]) -> None:
    assert {name: use.mib for name, use in measured.items() if use.mib > 1.3 * AGENTS[name]["mib"] + 2} == {}
    assert sum(use.mib for use in measured.values()) < MIB


def test_the_passes_on_this_machine_take_less_than_a_core_percent(measured: Mapping[str, Use]) -> None:
    """Processor time of the passes over their periods, not a duration: other load makes it up to twice as long."""
    shares = {name: (use.cpu_seconds or 0) / AGENTS[name]["every"] for name, use in measured.items() if use.cpu_seconds}
    assert set(shares) == {"node exporter", "metrics of certificates", "result for Slurm", "credentials of jobs"}
    assert sum(shares.values()) < CORE, shares
