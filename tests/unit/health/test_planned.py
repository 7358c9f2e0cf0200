"""Plan of health checks of on-prem nodes: slurm.conf's keys, expectations of each host, and errors of the driver."""

import json

from landbridge.catalog import platforms
from landbridge.catalog.hardware.xids import DRAINING, xids
from landbridge.plan.ansible.inventory import inventory
from landbridge.plan.site.health import INTERVAL_SECONDS, PROGRAM, expected_of, health_settings
from landbridge.plan.slurm.files import slurm_files
from tests.unit.core.samples import REMOVED, environment


def keys(text: str) -> dict[str, str]:
    return dict(line.split("=", 1) for line in text.splitlines() if line.startswith("HealthCheck"))


def test_slurm_is_told_where_there_are_nodes_to_check() -> None:
    wanted = {"HealthCheckProgram": PROGRAM, "HealthCheckInterval": str(INTERVAL_SECONDS), "HealthCheckTimeout": "30"}
    wanted["HealthCheckNodeState"] = "ANY"
    assert keys(slurm_files(environment())["slurm.conf"]) == wanted
    bare = environment({("onprem", "nodes"): REMOVED})
    assert keys(slurm_files(bare)["slurm.conf"]) == {} == dict(health_settings(bare))


def test_a_site_may_do_without() -> None:
    off = dict.fromkeys(f"HealthCheck{key}" for key in ("Program", "Interval", "Timeout", "NodeState"))
    assert keys(slurm_files(environment({("scheduler", "overrides"): {"slurm_conf": off}}))["slurm.conf"]) == {}


def test_every_node_is_expected_to_be_what_its_group_says_and_no_other_host_is() -> None:
    mixed = [
        {"hosts": "dgx01", "platform": "dgx-h100", "address": "10.20.1.11"},
        {"hosts": "old01", "platform": "pcie-v100", "address": "10.20.1.21"},
    ]
    found = environment({("onprem", "nodes"): mixed})
    hosts = inventory(found)["_meta"]["hostvars"]
    expected = {name: host["node_health_expected"] for name, host in hosts.items() if "node_health_expected" in host}
    assert set(expected) == {"dgx01", "old01"}
    assert json.loads(json.dumps(expected)) == expected, "plain values"
    assert expected["dgx01"] == {
        "gpus": {
            "count": 8,
            "type": "h100",
            "name": "NVIDIA H100 80GB HBM3",
            "memory_mib": 81559,
            "errors": "row_remapping",
            "pcie_generation": 5,
            "pcie_width": 16,
            "links": 18,
        },
        "services": ["nvidia-fabricmanager"],
        "ports": {"400": 12},
        "mounts": ["/home"],
    }
    assert expected["old01"]["gpus"]["errors"] == "page_retirement"
    assert (
        "links" not in expected["old01"]["gpus"]
        and expected["old01"]["services"] == []
        and "ports" not in expected["old01"]
    )


def test_every_platform_has_expectations() -> None:
    for name, platform in platforms().items():
        found = expected_of(environment(), name)
        assert found["gpus"]["count"] == platform.gpus.count
        assert ("nvidia-imex" in found["services"]) == platform.imex


def test_cloud_nodes_have_the_program_that_slurm_names() -> None:
    assert inventory(environment())["all"]["vars"]["slurm_node_health_program"] == PROGRAM
    bare = environment({("onprem", "nodes"): REMOVED})
    assert inventory(bare)["all"]["vars"]["slurm_node_health_program"] == ""


def test_errors_of_the_application_drain_nothing_and_those_of_the_hardware_do() -> None:
    found = xids()
    assert not any(found[number].drains for number in (8, 13, 31, 32, 45, 69, 94, 144, 154))
    assert {number: found[number].action for number in (48, 79, 95, 119)} == {
        48: "reset",
        79: "reboot",
        95: "reset",
        119: "reset",
    }
    assert {one.action for one in found.values()} - set(DRAINING) == {"application", "driver"}
    # Told to be ignored: what they announce is asked of the GPU itself.
    assert not {43, 63, 92} & set(found)
