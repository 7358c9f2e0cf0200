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


def test_slurm_conf_has_the_health_check_if_there_are_on_prem_nodes() -> None:
    expected = {"HealthCheckProgram": PROGRAM, "HealthCheckInterval": str(INTERVAL_SECONDS), "HealthCheckTimeout": "30"}
    expected["HealthCheckNodeState"] = "ANY"
    assert keys(slurm_files(environment())["slurm.conf"]) == expected
    bare = environment({("onprem", "nodes"): REMOVED})
    assert keys(slurm_files(bare)["slurm.conf"]) == {} == dict(health_settings(bare))


def test_a_site_may_disable_the_health_check() -> None:
    off = dict.fromkeys(f"HealthCheck{key}" for key in ("Program", "Interval", "Timeout", "NodeState"))
    assert keys(slurm_files(environment({("scheduler", "overrides"): {"slurm_conf": off}}))["slurm.conf"]) == {}


def test_every_node_has_the_expectations_of_its_platform_and_other_hosts_have_none() -> None:
    mixed = [
        {"hosts": "dgx01", "platform": "dgx-h100", "address": "10.20.1.11"},
        {"hosts": "old01", "platform": "pcie-v100", "address": "10.20.1.21"},
    ]
    site = environment({("onprem", "nodes"): mixed})
    hosts = inventory(site)["_meta"]["hostvars"]
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
        expectations = expected_of(environment(), name)
        assert expectations["gpus"]["count"] == platform.gpus.count
        assert ("nvidia-imex" in expectations["services"]) == platform.imex


def test_cloud_nodes_have_the_health_program_of_slurm_conf() -> None:
    assert inventory(environment())["all"]["vars"]["slurm_node_health_program"] == PROGRAM
    bare = environment({("onprem", "nodes"): REMOVED})
    assert inventory(bare)["all"]["vars"]["slurm_node_health_program"] == ""


def test_only_hardware_errors_drain_a_node() -> None:
    by_number = xids()
    assert not any(by_number[number].drains for number in (8, 13, 31, 32, 45, 69, 94, 144, 154))
    assert {number: by_number[number].action for number in (48, 79, 95, 119)} == {
        48: "reset",
        79: "reboot",
        95: "reset",
        119: "reset",
    }
    assert {xid.action for xid in by_number.values()} - set(DRAINING) == {"application", "driver"}
    # Ignored, because the checks query the same state from the GPU.
    assert not {43, 63, 92} & set(by_number)
