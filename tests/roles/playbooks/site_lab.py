"""Lab of four bare machines: a controller, a login host with the homes, and two GPU nodes."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass
from ipaddress import IPv4Network
from pathlib import Path
from typing import Any

from landbridge.catalog import platforms
from sandbox.demo.cluster import LabCluster
from sandbox.hardware.packages.repository import Repository
from sandbox.nspawn.layout import Layout
from sandbox.nspawn.site import Machine, operator_address, plan

ROOT = Path(__file__).parents[3]
PLATFORM, STACK, RELEASE = "dgx-h100", "rack", "580.95.05"
ONPREM, CLOUD = IPv4Network("10.52.0.0/16"), IPv4Network("10.92.0.0/16")
OPERATOR = operator_address(ONPREM)
ADDRESSES = {"ctl01": "10.52.0.11", "login01": "10.52.0.13", "dgx01": "10.52.1.11", "dgx02": "10.52.1.12"}
NODES = ("dgx01", "dgx02")
GPUS = platforms()[PLATFORM].gpus.count
SITE = plan(
    ONPREM,
    CLOUD,
    None,
    (
        Machine("ctl01", ADDRESSES["ctl01"]),
        Machine("login01", ADDRESSES["login01"], storage=True),
        *(Machine(name, ADDRESSES[name], GPUS, PLATFORM) for name in NODES),
    ),
)


def environment_content(lab: Layout, packages: Repository) -> dict[str, Any]:
    """Return the content of the environment file: the whole site but the gateway, which is not among the four hosts."""
    return {
        "owner": "rack@example.org",
        "data_classes": {"internal": {"sites": ["onprem"]}},
        "users": [{"name": "alice", "uid": 20001}, {"name": "bob", "uid": 20002}],
        "onprem": {
            "cidr": str(ONPREM),
            "nodes": [{"hosts": "dgx[01-02]", "platform": PLATFORM, "address": ADDRESSES["dgx01"], "rack": "r1"}],
            "services": {
                "controller": ["ctl01"],
                "database": "ctl01",
                "login": ["login01"],
                "storage": "login01",
                "gateway": "gw01",
                "mlops": "login01",
            },
            "addresses": {**{name: ADDRESSES[name] for name in ("ctl01", "login01")}, "gw01": "10.52.0.1"},
            "access": {
                "user": "root",
                "private_key": str(lab.private_key),
                "proxy_command": f"nsenter --net=/run/netns/{lab.netns} socat - TCP:%h:%p",
                "known_hosts": "/dev/null",
            },
            "packages": {"python_find_links": f"http://{OPERATOR}:3143/"},
            "driver": {"version": RELEASE, "mirror": packages.address(OPERATOR, "debian13")},
            "gpu_tools": {
                "container_toolkit_mirror": packages.address(OPERATOR, "container-toolkit"),
                "rdma": {"stack": "doca", "mirror": packages.address(OPERATOR, "doca")},
                "gds": True,
            },
        },
        "aws": {"cidr": str(CLOUD)},
        "link": {"kind": "vpn", "gateway_address": "3.3.3.3", "onprem_asn": 65010},
        "hosts": {"tuning": {"enabled": False}},
        "storage": {"home": {"kind": "nfs", "export": "/export/home", "server": "ganesha"}, "data_hub": {"kind": "s3"}},
        "scheduler": {
            "slurm": {"version": "26.05", "packages_mirror": None},
            "auth": "slurm",
            "cgroup": "v1",
            # Lab nodes have two cores but declare a DGX's: slurm.conf decides.
            "overrides": {"slurm_conf": {"SlurmdParameters": "config_overrides"}},
            "accounts": {
                "vision": {
                    "users": ["alice", "bob"],
                    "data_class": "internal",
                    "max_gpus": 16,
                    "qos": ["normal", "urgent"],
                }
            },
            "qos": {"urgent": {"priority": 1000, "preempts": ["normal"]}},
        },
        "budget": {"monthly_usd": 1000},
    }


def project(folder: Path, lab: Layout, packages: Repository) -> Path:
    """Create a checkout with that environment file, from which operators manage the site."""
    for name in ("ansible", "ansible.cfg", "examples"):
        (folder / name).symlink_to(ROOT / name)
    (folder / "stacks").mkdir()
    path = folder / "stacks" / f"Pulumi.{STACK}.yaml"
    path.write_text(
        json.dumps(
            {"config": {"aws:region": "us-east-1", "landbridge:environment": environment_content(lab, packages)}}
        )
    )
    return path


@dataclass(frozen=True)
class Rack(LabCluster):
    """The machines, and the folder from which operators manage them."""

    folder: Path = Path()

    def configure(self, *words: str) -> tuple[float, Mapping[str, Mapping[str, int]]]:
        """Run `landbridge configure` with plain Ansible; return its duration in seconds and the counts by host."""
        program = Path(sys.executable).with_name("landbridge")
        variables = {
            "XDG_STATE_HOME": str(self.folder / "state"),
            "ANSIBLE_SSH_CONTROL_PATH_DIR": str(self.folder / "cp"),
        }
        search = {"PATH": f"{program.parent}:{os.environ['PATH']}"}
        began = time.monotonic()
        done = subprocess.run(
            [program, "configure", "-s", STACK, "--format", "json", *(words or ("--limit", ",".join(ADDRESSES)))],
            cwd=self.folder,
            env={**os.environ, **search, **variables},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
        report = done.stdout[done.stdout.find("{") :]
        assert done.returncode == 0, report[-6000:] + done.stderr[-3000:]
        return time.monotonic() - began, json.loads(report)["hosts"]

    def states(self) -> dict[str, set[str]]:
        """Return Slurm's state flags of every node."""
        shown = self.json("ctl01", "scontrol", "show", "nodes", "--json")["nodes"]
        return {node["name"]: set(node["state"]) for node in shown}

    def traces(self, node: str) -> str:
        """Return the state that a run could change on a node: file contents, packages, and start times of daemons."""
        files = (
            "find /etc /opt/landbridge /usr/lib/systemd -xdev -type f ! -name '*.pyc' -exec sha256sum {} + | sort -k2"
        )
        started = "systemctl show -p ExecMainStartTimestampMonotonic --value slurmd slurmctld slurmdbd nfs-ganesha sshd"
        return self.run(node, "sh", "-c", f"{files}; dpkg-query -W | sha256sum; {started}")
