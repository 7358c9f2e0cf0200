"""Lab with two small clusters, one of each Slurm release in Debian, both with auth/slurm.

One has a controller that is also the login host, and a node; the other is a single host."""

import json
from dataclasses import dataclass
from ipaddress import IPv4Network
from pathlib import Path
from typing import Any

from landbridge.environment import Environment
from landbridge.plan.ansible.inventory import inventory
from sandbox.nspawn.layout import Layout
from sandbox.nspawn.machine import nodes
from sandbox.nspawn.site import Machine, plan
from tests.roles.ansible_run import ROOT, Counts, connection, play
from tests.unit.core.samples import REMOVED, environment

ONPREM = "10.46.0.0/16"
ADDRESSES = {"ctl01": "10.46.0.11", "old01": "10.46.0.12", "dgx01": "10.46.1.11"}
SITE = plan(
    IPv4Network(ONPREM),
    IPv4Network("10.86.0.0/16"),
    None,
    tuple(Machine(name, address, gpus=0 if name == "ctl01" else 8) for name, address in ADDRESSES.items()),
)
#: The lab has neither a database nor health checks.
ABSENT: tuple[str, ...] = (
    "AccountingStorageType",
    "AccountingStorageHost",
    "AccountingStorageTRES",
    "HealthCheckProgram",
)
ABSENT += ("HealthCheckInterval", "HealthCheckNodeState")
PLAYS = (("slurm_controller", "slurm_controller"), ("slurm_node", "slurm_node"), ("slurm_login", "slurm_login"))
#: The site's plays for Slurm only, with the site's secrets.
PLAYBOOK = json.dumps(
    [
        {
            "hosts": group,
            "gather_facts": False,
            "vars_files": [f"{ROOT}/ansible/group_vars/all/secrets.yml"],
            "roles": [role],
        }
        for group, role in PLAYS
    ]
)


# Runs slurmctld as on its own host: the same files, folder, name and address, but no other daemon.
START = """
import json, os, pathlib, shutil, subprocess, sys, time
name, address, files = json.load(sys.stdin)
call = lambda *words: subprocess.run(words, capture_output=True, text=True)
for words in (["mount", "--make-rprivate", "/"], ["ip", "link", "set", "lo", "up"], ["hostname", name],
              ["ip", "addr", "add", f"{address}/32", "dev", "lo"]):
    assert call(*words).returncode == 0, words
for path in ("/etc/slurm", "/var/lib/slurm", "/var/log/slurm", "/run/slurm", "/run/slurmctld", "/opt/landbridge/bin"):
    os.makedirs(path, exist_ok=True)
    assert call("mount", "-t", "tmpfs", "none", path).returncode == 0, path
    shutil.chown(path, "slurm", "slurm")
for text in files.values():
    for word in text.replace("=", " ").split():
        if word.startswith("/opt/landbridge/bin/"):
            pathlib.Path(word).write_text("#!/bin/sh\\nexit 0\\n")
            os.chmod(word, 0o755)
files["slurm.key"] = "k" * 64
files["landbridge-job"] = "#!/bin/sh\\nexit 0\\n"
for file, text in files.items():
    path = pathlib.Path("/etc/slurm", file)
    path.write_text(text)
    path.chmod(0o400 if file == "slurm.key" else 0o755)
    shutil.chown(path, "slurm", "slurm")
os.mkdir("/var/lib/slurm/slurmctld")
shutil.chown("/var/lib/slurm/slurmctld", "slurm", "slurm")
daemon = subprocess.Popen(["slurmctld", "-D"], user="slurm", group="slurm", stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
for _ in range(1200):
    time.sleep(0.25)
    if daemon.poll() is not None or call("scontrol", "ping").returncode == 0:
        break
alive = daemon.poll() is None
report = {query: call("scontrol", "show", *query.split()).stdout if alive else "" for query in ("config", "nodes --json", "partitions --json", "topology")}
daemon.terminate()
try:
    daemon.wait(60)
except subprocess.TimeoutExpired:
    daemon.kill()
report["log"] = daemon.stderr.read()
print(json.dumps(report))
"""


def site_environment(version: str) -> Environment:
    """Return the environment of the cluster with this Slurm release."""
    controller, node = ("ctl01", "dgx01") if version == "26.05" else ("old01", "old01")
    services = {"controller": [controller], **dict.fromkeys(("database", "storage", "gateway", "mlops"), controller)}
    return environment(
        {
            ("onprem", "cidr"): ONPREM,
            ("onprem", "nodes"): [{"hosts": node, "platform": "dgx-h100", "address": ADDRESSES[node], "rack": "r1"}],
            ("onprem", "services"): {**services, "login": [controller]},
            ("onprem", "addresses"): {controller: ADDRESSES[controller]},
            ("aws", "cidr"): "10.86.0.0/16",
            ("aws", "pools"): [],
            ("link",): REMOVED,
            ("scheduler", "accounts"): REMOVED,
            ("scheduler", "slurm"): {"version": version, "packages_mirror": None},
            ("scheduler", "auth"): "slurm",
            ("scheduler", "cgroup"): "v1",
            ("scheduler", "overrides"): {
                "slurm_conf": {**dict.fromkeys(ABSENT), "SlurmdParameters": "config_overrides"}
            },
        },
        environment=f"keyed-{version.replace('.', '')}",
    )


@dataclass(frozen=True)
class Site:
    """One of the two clusters, with its operators' commands."""

    lab: Layout
    folder: Path
    version: str

    @property
    def secrets(self) -> Path:
        """Return the operator's directory of this cluster's keys."""
        return self.folder / "secrets"

    def run(self, node: str, command: str, timeout: float = 60) -> str:
        done = nodes.exec(self.lab, node, [command], timeout=timeout)
        assert done.returncode == 0, f"{node}: {command}: {done.stderr}{done.stdout}"
        return str(done.stdout).strip()

    def play(self, book: Path, *words: str) -> Counts:
        """Run a playbook with the planned variables and return Ansible's counts by host."""
        self.secrets.mkdir(parents=True, exist_ok=True)
        return play(self.lab, self.folder, book, self._inventory(), *words).good().counts

    def _inventory(self) -> dict[str, Any]:
        data = inventory(site_environment(self.version))
        lab_hosts = [name for name in data["_meta"]["hostvars"] if name in ADDRESSES]
        groups = {
            name: {
                "hosts": dict.fromkeys(host for host in group.get("hosts", ()) if host in lab_hosts),
                "vars": group.get("vars", {}),
            }
            for name, group in data.items()
            if name not in ("all", "_meta")
        }
        groups["slurm_controller"]["vars"]["slurm_controller_database_host"] = ""
        common = {
            **data["all"]["vars"],
            **connection(self.lab),
            "landbridge_secrets": str(self.secrets),
        }
        # Without the role base there is no hosts file with the hosts' names.
        controllers = [ADDRESSES[name] for name in groups["slurm_controller"]["hosts"]]
        common |= {"slurm_node_controllers": controllers, "slurm_login_controllers": controllers}
        hostvars = {name: data["_meta"]["hostvars"][name] for name in lab_hosts}
        return {"all": {"hosts": hostvars, "vars": common, "children": groups}}
