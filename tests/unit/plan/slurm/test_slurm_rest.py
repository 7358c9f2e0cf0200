"""Slurm over HTTP (slurmrestd): on one host, for callers with a token, and only if the file enables it."""

from typing import Any

from landbridge.findings import DataPath
from landbridge.plan.ansible.inventory import inventory
from landbridge.plan.network.host_role import groups
from landbridge.plan.slurm.files import slurm_files
from tests.unit.core.samples import environment

REST: dict[DataPath, Any] = {
    ("scheduler", "rest"): {"port": 6825, "memory_mib": 512},
    ("onprem", "services"): {"login": ["login01", "nfs01"]},
}


def test_slurmrestd_runs_on_the_first_login_host_only() -> None:
    data = inventory(environment(REST))
    assert data["slurm_rest"]["hosts"] == ["login01"]
    assert data["slurm_rest"]["vars"] == {"slurm_rest_listen": ["127.0.0.1:6825"], "slurm_rest_memory_mib": 512}


def test_only_the_hosts_of_slurmctld_and_slurmdbd_have_the_key() -> None:
    data = inventory(environment(REST))
    groups_with_key = [group for group in groups() if data[group]["vars"].get("slurm_common_jwt")]
    assert groups_with_key == ["slurm_controller", "slurm_database"]
    assert "slurm_common_jwt" not in data["all"]["vars"]
    conf = slurm_files(environment(REST))["slurm.conf"]
    assert "AuthAltTypes=auth/jwt\nAuthAltParameters=jwt_key=/etc/slurm/jwt_hs256.key\n" in conf
    restarts = data["slurm_controller"]["vars"]["slurm_controller_start_settings"]
    assert restarts["AuthAltTypes"] == "auth/jwt", "slurmctld reads it only at its start"


def test_slurmrestd_is_off_by_default() -> None:
    data = inventory(environment())
    assert data["slurm_rest"] == {"hosts": [], "vars": {}}
    assert "AuthAlt" not in slurm_files(environment())["slurm.conf"]
    assert "slurm_common_jwt" not in data["slurm_controller"]["vars"]
