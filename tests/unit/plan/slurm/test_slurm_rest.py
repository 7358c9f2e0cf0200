"""Slurm over HTTP: on one host, for callers with a token, and nothing of it where nobody wants it."""

from typing import Any

from landbridge.findings import DataPath
from landbridge.plan.ansible.inventory import inventory
from landbridge.plan.network.hosts import GROUPS
from landbridge.plan.slurm.files import slurm_files
from tests.unit.core.samples import environment

REST: dict[DataPath, Any] = {
    ("scheduler", "rest"): {"port": 6825, "memory_mib": 512},
    ("onprem", "services"): {"login": ["login01", "nfs01"]},
}


def test_it_listens_on_the_first_login_host_and_there_alone() -> None:
    found = inventory(environment(REST))
    assert found["slurm_rest"]["hosts"] == ["login01"]
    assert found["slurm_rest"]["vars"] == {"slurm_rest_listen": ["127.0.0.1:6825"], "slurm_rest_memory_mib": 512}


def test_only_the_hosts_of_slurmctld_and_slurmdbd_have_the_key() -> None:
    found = inventory(environment(REST))
    told = [group for group in GROUPS[1:] if found[group]["vars"].get("slurm_common_jwt")]
    assert told == ["slurm_controller", "slurm_database"]
    assert "slurm_common_jwt" not in found["all"]["vars"]
    conf = slurm_files(environment(REST))["slurm.conf"]
    assert "AuthAltTypes=auth/jwt\nAuthAltParameters=jwt_key=/etc/slurm/jwt_hs256.key\n" in conf
    restarts = found["slurm_controller"]["vars"]["slurm_controller_start_settings"]
    assert restarts["AuthAltTypes"] == "auth/jwt", "slurmctld reads it at its start alone"


def test_nobody_asks_over_http_unless_the_file_says_so() -> None:
    found = inventory(environment())
    assert found["slurm_rest"] == {"hosts": [], "vars": {}}
    assert "AuthAlt" not in slurm_files(environment())["slurm.conf"]
    assert "slurm_common_jwt" not in found["slurm_controller"]["vars"]
