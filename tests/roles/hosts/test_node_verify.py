"""Check of a node before slurmd starts: a node with a lack is down in Slurm with the reason, and powers off."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from ipaddress import IPv4Network
from pathlib import Path
from typing import Any

import pytest

from landbridge.plan.ansible.inventory import inventory
from landbridge.plan.roles.nodes.node_verify import node_verify_variables
from sandbox.demo.cluster import wait_for
from sandbox.nspawn import cleanup
from sandbox.nspawn import lab as whole
from sandbox.nspawn.layout import Layout, layout
from sandbox.nspawn.machine import nodes
from sandbox.nspawn.machine.cloud_node import switched_off
from sandbox.nspawn.site import Machine, plan
from tests.roles.ansible_run import Played, connection, play
from tests.unit.core.samples import REMOVED, environment

pytestmark = [pytest.mark.lab]
ONPREM, CLOUD = IPv4Network("10.54.0.0/16"), IPv4Network("10.94.0.0/16")
CONTROLLER, NODE = ("ctl01", "10.54.0.11"), ("dgx01", "10.54.1.11")
SITE = plan(ONPREM, CLOUD, None, (Machine(*CONTROLLER), Machine(*NODE, gpus=8, platform="dgx-h100")))
#: Stand-in of the identity service: this node has its name and key already.
IDENTITY = "[Service]\nType=oneshot\nRemainAfterExit=yes\nExecStart=/bin/true\n[Install]\nWantedBy=multi-user.target\n"
PLAYBOOK = """
- hosts: ctl01
  gather_facts: false
  roles: [slurm_controller]
- hosts: dgx01
  gather_facts: false
  roles: [node_verify, slurm_node]
"""
SKIP = ["boto3", "health", "cloud-init", "time", "root-volume", "pool"]
#: Command that removes something, the mode that must see it, and the message.
LACKS = [
    ("systemctl disable --quiet landbridge-identity", "image", "units: landbridge-identity does not start at boot"),
    ("rm /etc/landbridge/agent.json", "image", "files: /etc/landbridge/agent.json is missing or empty"),
    ("install -m 0400 /dev/null /root/.ssh/id_rsa", "image", "secrets: /root/.ssh/id_rsa is in the image"),
    ("touch /usr/bin/ansible-playbook", "image", "leftovers: /usr/bin/ansible-playbook remains"),
    ("sed -i s/26.05/99.05/ /etc/landbridge/node-verify.json", "boot", "; the cluster has 99.05"),
]
RESTORE = (
    "systemctl enable --quiet landbridge-identity; rm -f /root/.ssh/id_rsa /usr/bin/ansible-playbook;"
    " echo '{}' > /etc/landbridge/agent.json; sed -i s/99.05/26.05/ /etc/landbridge/node-verify.json"
)


@dataclass(frozen=True)
class Cluster:
    """A controller and one node."""

    lab: Layout
    folder: Path
    auth: str

    def run(self, host: str, script: str, status: int = 0) -> str:
        completed = nodes.exec(self.lab, host, [script])
        assert completed.returncode == status, f"{host}: {script}: {completed.stderr}{completed.stdout}"
        return str(completed.stdout).strip()

    def node(self) -> tuple[set[str], str]:
        """Return Slurm's state flags of the node, and the reason."""
        node = json.loads(self.run("ctl01", "scontrol show node dgx01 --json"))["nodes"][0]
        return set(node["state"]), str(node["reason"])

    def converge(self) -> Played:
        planned = site_environment(self.auth)
        data = inventory(planned)
        variables = node_verify_variables(planned)
        variables["node_verify_expectations"] |= {
            "release": "26.05",
            "units": ["slurmd", "landbridge-identity", "landbridge-node-verify"],
            "skip": SKIP,
            "engines": [],
        }
        data["all"]["vars"] |= {
            **connection(self.lab),
            **variables,
            "node_verify_seconds": 4,
            "slurm_common_key": "k" * 64,
            "slurm_node_controllers": [CONTROLLER[1]],
            "slurm_node_after": ["landbridge-identity.service", "landbridge-node-verify.service"],
        }
        data["slurm_controller"]["vars"]["slurm_controller_database_host"] = ""
        return play(self.lab, self.folder, PLAYBOOK, data).good()


def site_environment(auth: str) -> Any:
    overrides = {
        **dict.fromkeys(("AccountingStorageType", "AccountingStorageHost", "AccountingStorageTRES")),
        **dict.fromkeys(("HealthCheckProgram", "HealthCheckInterval", "HealthCheckTimeout", "HealthCheckNodeState")),
        "SlurmdParameters": "config_overrides",
    }
    addresses = {name: f"10.54.0.{last}" for name, last in (("db01", 12), ("login01", 13), ("nfs01", 14), ("gw01", 1))}
    return environment(
        {
            ("onprem", "cidr"): str(ONPREM),
            ("onprem", "nodes"): [{"hosts": "dgx01", "platform": "dgx-h100", "address": NODE[1]}],
            ("onprem", "addresses"): {**addresses, "ctl01": CONTROLLER[1], "mlops01": "10.54.0.15"},
            ("aws", "cidr"): str(CLOUD),
            ("aws", "pools"): [],
            ("link",): REMOVED,
            ("scheduler", "accounts"): REMOVED,
            ("scheduler", "slurm"): {"version": "26.05", "packages_mirror": None},
            ("scheduler", "auth"): auth,
            ("scheduler", "cgroup"): "v1",
            ("scheduler", "overrides"): {"slurm_conf": overrides},
        }
    )


@pytest.fixture(scope="module", params=["munge", pytest.param("slurm", marks=pytest.mark.long)])
def cluster(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    lab = layout("landbridge-test-verify")
    cleanup.down(lab)
    try:
        whole.up(lab, SITE)
        started = Cluster(lab, tmp_path_factory.mktemp("verify"), request.param)
        names = "".join(f"echo {address} {name} >> /etc/hosts; " for name, address in (CONTROLLER, NODE))
        for host, _ in (CONTROLLER, NODE):
            started.run(host, names)
        unit = "/etc/systemd/system/landbridge-identity.service"
        files = "mkdir -p /etc/landbridge; echo '{}' | tee /etc/landbridge/node.json > /etc/landbridge/agent.json"
        started.run(
            NODE[0], f"printf '{IDENTITY}' > {unit}; systemctl enable --quiet --now landbridge-identity; {files}"
        )
        started.converge()
        yield started
    finally:
        cleanup.down(lab)


def test_a_node_that_lacks_nothing_joins_and_a_second_run_changes_nothing(cluster: Cluster) -> None:
    wait_for("the node registered", cluster.node, lambda node: "IDLE" in node[0] and "NOT_RESPONDING" not in node[0])
    assert cluster.run(NODE[0], "systemctl is-active landbridge-node-verify") == "active"
    assert cluster.converge().changed == {"ctl01": 0, "dgx01": 0}


@pytest.mark.parametrize(("command", "mode", "text"), LACKS, ids=[row[2] for row in LACKS])
def test_a_lack_of_a_real_host_is_named(cluster: Cluster, command: str, mode: str, text: str) -> None:
    cluster.run(NODE[0], command)
    try:
        assert text in cluster.run(NODE[0], f"/opt/landbridge/bin/landbridge-node-verify {mode}", status=1)
    finally:
        cluster.run(NODE[0], RESTORE)
    assert "0 errors" in cluster.run(NODE[0], "/opt/landbridge/bin/landbridge-node-verify boot")


def test_a_node_with_a_lack_takes_no_job_tells_slurm_and_powers_off(cluster: Cluster) -> None:
    cluster.run(NODE[0], "systemctl stop slurmd && rm /etc/landbridge/node.json")
    # Without --no-block the command would wait for a machine that powers off.
    cluster.run(NODE[0], "systemctl restart landbridge-node-verify --no-block")
    reason = "landbridge: image: files: /etc/landbridge/node.json is missing or empty"
    wait_for("the node down", cluster.node, lambda node: "DOWN" in node[0] and node[1].startswith(reason))
    wait_for("the machine off", lambda: switched_off(cluster.lab, NODE[0]), bool)
