"""Lab of the site's timers: a controller with accounting database and MLflow, a GPU node, and a gateway, by one environment's plan."""

import json
import shlex
from dataclasses import dataclass
from ipaddress import IPv4Network
from pathlib import Path
from typing import Any

from landbridge.catalog import platforms
from landbridge.environment import Environment
from landbridge.findings import DataPath
from landbridge.plan.ansible.inventory import inventory
from sandbox.nspawn.layout import Layout
from sandbox.nspawn.machine import nodes
from sandbox.nspawn.site import Machine, operator_address, plan
from tests.roles.ansible_run import ROOT, Played, connection, play
from tests.unit.core.samples import changed, environment
from tests.unit.ops.netcheck.records import STACK_OUTPUTS

ONPREM, CLOUD = IPv4Network("10.36.0.0/16"), IPv4Network("10.76.0.0/16")
CONTROLLER, NODE, GATEWAY = "ctl01", "dgx01", "gw01"
ADDRESSES = {CONTROLLER: "10.36.0.11", GATEWAY: "10.36.0.2", NODE: "10.36.1.11"}
PLATFORM = "dgx-h100"
SITE = plan(
    ONPREM,
    CLOUD,
    None,
    (
        Machine(CONTROLLER, ADDRESSES[CONTROLLER]),
        Machine(GATEWAY, ADDRESSES[GATEWAY]),
        Machine(NODE, ADDRESSES[NODE], gpus=platforms()[PLATFORM].gpus.count, platform=PLATFORM),
    ),
)
SERVICES: dict[str, Any] = {
    "controller": [CONTROLLER],
    "login": [CONTROLLER],
    "gateway": GATEWAY,
    **dict.fromkeys(("database", "storage", "mlops", "monitoring"), CONTROLLER),
}
#: All data stays at the site, so that neither MLflow nor a job needs AWS. The health check runs often.
CHANGES: dict[DataPath, Any] = {
    ("onprem", "cidr"): str(ONPREM),
    ("onprem", "nodes"): [{"hosts": NODE, "platform": PLATFORM, "address": ADDRESSES[NODE], "rack": "r1"}],
    ("onprem", "addresses"): {name: ADDRESSES[name] for name in (CONTROLLER, GATEWAY)},
    ("onprem", "services"): SERVICES,
    ("onprem", "packages"): {"python_find_links": f"http://{operator_address(ONPREM)}:3143/"},
    ("data_classes",): {"internal": {"sites": ["onprem"]}, "restricted": {"sites": ["onprem"], "regime": "hipaa"}},
    ("aws", "cidr"): str(CLOUD),
    ("aws", "pools"): [],
    ("link",): {"kind": "vpn", "gateway_address": "198.51.100.10", "onprem_asn": 65010},
    ("observability",): {"timers": {}},
    ("scheduler", "accounts"): {
        "vision": {"users": ["alice"], "data_class": "internal"},
        "clinic": {"users": ["bob"], "data_class": "restricted"},
    },
    ("scheduler", "slurm"): {"version": "24.11", "packages_mirror": None},
    ("scheduler", "cgroup"): "v1",
    ("scheduler", "overrides"): {
        "slurm_conf": {"SlurmdParameters": "config_overrides", "HealthCheckInterval": 5, "ReturnToService": 2}
    },
}
#: Roles in the order of site.yml.
ROLES = (
    ("all", "base"),
    (CONTROLLER, "site_tls"),
    (CONTROLLER, "node_exporter"),
    (CONTROLLER, "slurm_database"),
    (NODE, "node_health"),
    (CONTROLLER, "slurm_controller"),
    (NODE, "slurm_node"),
    (CONTROLLER, "mlflow"),
)


def site_environment() -> Environment:
    """Return the environment of the lab."""
    return environment(CHANGES)


@dataclass(frozen=True)
class Lab:
    """The hosts, with commands of operators."""

    lab: Layout
    folder: Path

    @property
    def secrets(self) -> Path:
        """Return the operator's folder of secrets."""
        return self.folder / "secrets"

    def run(self, host: str, command: str) -> str:
        """Run a shell command on a host; it must succeed."""
        done = nodes.exec(self.lab, host, [command], timeout=600)
        assert done.returncode == 0, f"{host}: {command}: {done.stderr}{done.stdout}"
        return str(done.stdout).strip()

    def converge(self, *words: str) -> Played:
        """Run the roles with the plan's variables and the generated secrets."""
        plays = [self._roles(hosts, {"include_role": {"name": name}}) for hosts, name in ROLES]
        plays += [
            self._roles(CONTROLLER, {"include_role": {"name": "site_timers", "tasks_from": "keys"}}),
            self._roles("all", {"include_tasks": str(ROOT / "ansible/playbooks/tasks/host_access.yml")}),
            self._roles(CONTROLLER, {"include_role": {"name": "site_timers"}}),
        ]
        return play(self.lab, self.folder, plays, self._inventory(), *words, timeout=1500)

    def rotate(self) -> Played:
        """Run the playbook that replaces the key pairs."""
        book = ROOT / "ansible/playbooks/rotate_timer_keys.yml"
        return play(self.lab, self.folder, book, self._inventory(), timeout=600)

    def as_account(self, user: str, groups: str, program: str) -> str:
        """Run a Python program of the timers' environment as an account with groups, in a unit."""
        words = [
            "systemd-run",
            "--quiet",
            "--pipe",
            "--wait",
            f"--uid={user}",
            f"--property=SupplementaryGroups={groups}",
        ]
        return self.run(
            CONTROLLER, shlex.join([*words, "/opt/landbridge/timers/bin/python", "-I", "-B", "-c", program])
        )

    def _roles(self, hosts: str, task: dict[str, Any]) -> dict[str, Any]:
        return {
            "hosts": hosts,
            "gather_facts": False,
            "vars_files": [f"{ROOT}/ansible/group_vars/all/secrets.yml"],
            "tasks": [task],
        }

    def _inventory(self) -> dict[str, Any]:
        self.secrets.mkdir(exist_ok=True)
        file = self.folder / "Pulumi.test.yaml"
        file.write_text(changed(CHANGES))
        data = inventory(site_environment(), STACK_OUTPUTS)
        data["all"]["vars"] |= {
            **connection(self.lab),
            "landbridge_secrets": str(self.secrets),
            "node_health_seconds": 4,
            "node_health_driver_branch": "580",
            "mlflow_workers": 1,
            "site_timers_source": str(file),
            "site_timers_outputs": json.loads(STACK_OUTPUTS.model_dump_json()),
        }
        return data
