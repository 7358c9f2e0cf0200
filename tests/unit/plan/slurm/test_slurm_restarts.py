"""Settings of slurm.conf that a daemon reads only at its start, as the variables of the roles that restart it."""

from typing import Any

import pytest

from landbridge.catalog.slurm.keys import slurm_keys
from landbridge.catalog.slurm.restarts import slurm_restarts
from landbridge.environment import Environment
from landbridge.findings import DataPath
from landbridge.plan.ansible.inventory import inventory
from landbridge.plan.slurm.restarts import restart_settings
from tests.unit.core.samples import environment

CONF: DataPath = ("scheduler", "overrides", "slurm_conf")


def start_settings(chosen: Environment) -> tuple[Any, Any]:
    """Return the restart variables of the roles of controllers and of nodes."""
    data = inventory(chosen)
    controller, node = data["slurm_controller"]["vars"], data["slurm_node"]["vars"]
    return controller["slurm_controller_start_settings"], node["slurm_node_start_settings"]


def test_every_parameter_is_one_of_slurm_conf() -> None:
    assert set(slurm_restarts()) <= set(slurm_keys().slurm_conf)


def test_restart_settings_are_per_daemon_and_keys_match_in_any_case() -> None:
    chosen = environment({CONF: {"slurmdPORT": 7000, "SlurmctldAddr": "10.20.0.9", "authinfo": "cred_expire=240"}})
    assert restart_settings(chosen, "slurmctld") == {
        "AuthType": "auth/munge",
        "AuthInfo": "cred_expire=240",
        "SlurmctldAddr": "10.20.0.9",
    }
    assert restart_settings(chosen, "slurmd") == {
        "AuthType": "auth/munge",
        "AuthInfo": "cred_expire=240",
        "SlurmdPort": "7000",
    }


@pytest.mark.parametrize(
    ("change", "restarts"),
    [
        ({("scheduler", "partitions"): {"onprem": {"max_time": "1-0"}}}, (False, False)),
        ({("aws", "pools", 0, "max_nodes"): 2}, (False, False)),
        ({(*CONF, "PriorityType"): "priority/basic"}, (False, False)),
        ({("scheduler", "auth"): "slurm"}, (True, True)),
        ({(*CONF, "AuthAltTypes"): "auth/jwt"}, (True, True)),
        ({(*CONF, "CommunicationParameters"): "EnableIPv6"}, (True, True)),
        ({(*CONF, "SlurmdPort"): 7000}, (False, True)),
    ],
)
def test_a_change_restarts_only_the_daemons_that_read_the_setting(
    change: dict[DataPath, Any], restarts: tuple[bool, bool]
) -> None:
    before, after = start_settings(environment()), start_settings(environment(change))
    assert tuple(old != new for old, new in zip(before, after, strict=True)) == restarts
