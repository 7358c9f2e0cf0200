"""Lab for operations on a running cluster: a controller and two nodes, of which the second joins later."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from ipaddress import IPv4Network
from pathlib import Path
from typing import Any

from landbridge.catalog import platforms
from sandbox.demo.cluster import LabCluster, wait_for
from sandbox.fast_ansible import fast_ansible_variables
from sandbox.nspawn.layout import Layout
from sandbox.nspawn.machine import nodes
from sandbox.nspawn.network import ssh
from sandbox.nspawn.site import Machine, plan

ROOT = Path(__file__).parents[3]
PLATFORM, STACK = "dgx-h100", "day2"
ONPREM, CLOUD = IPv4Network("10.49.0.0/16"), IPv4Network("10.89.0.0/16")
ADDRESSES = {"ctl01": "10.49.0.11", "dgx01": "10.49.1.11", "dgx02": "10.49.1.12"}
NODES = ("dgx01", "dgx02")
SITE = plan(
    ONPREM,
    CLOUD,
    None,
    (
        Machine("ctl01", ADDRESSES["ctl01"]),
        *(Machine(name, ADDRESSES[name], platforms()[PLATFORM].gpus.count, PLATFORM) for name in NODES),
    ),
)
#: More than the longest operation takes on a busy machine.
OPERATION_SECONDS = 800
#: The site's plays without accounting, shared homes and training environments, which the lab does not have.
TAGS = "base,slurm,health"


@dataclass(frozen=True)
class Kind:
    """Slurm's release, its authentication, and the key file."""

    version: str
    auth: str
    key: str


MUNGE = Kind("24.11", "munge", "/etc/munge/munge.key")
SLURM = Kind("26.05", "slurm", "/etc/slurm/slurm.jwks")


def environment_content(lab: Layout, kind: Kind) -> dict[str, Any]:
    """Return the content of the environment file, with one node."""
    others = {
        "db01": "10.49.0.12",
        "login01": "10.49.0.13",
        "nfs01": "10.49.0.14",
        "gw01": "10.49.0.1",
        "mlops01": "10.49.0.15",
    }
    overrides: dict[str, Any] = {
        "AccountingStorageType": None,
        "AccountingStorageTRES": None,
        "SlurmdParameters": "config_overrides",
        "HealthCheckInterval": 10,
    }
    proxy = f"nsenter --net=/run/netns/{lab.netns} socat - TCP:%h:%p"
    return {
        "owner": "day2@example.org",
        "data_classes": {"internal": {"sites": ["onprem"]}},
        "users": [{"name": "alice", "uid": 20001}],
        "onprem": {
            "cidr": str(ONPREM),
            "addresses": {"ctl01": ADDRESSES["ctl01"], **others},
            "access": {
                "user": "root",
                "private_key": str(lab.private_key),
                "proxy_command": proxy,
                "known_hosts": "/dev/null",
            },
            "aws_credentials": "host",
            "driver": {"install": False},
            "gpu_tools": {"dcgm": False},
        },
        # test_hardening.py tests this; here the firewall would open a /24 of nodes at once.
        "hosts": {"hardening": False},
        "aws": {"cidr": str(CLOUD)},
        "link": {"kind": "vpn", "gateway_address": "3.3.3.3", "onprem_asn": 65010},
        "storage": {"home": {"kind": "nfs", "export": "/export/home"}, "data_hub": {"kind": "s3"}},
        "scheduler": {
            "slurm": {"version": kind.version, "packages_mirror": None},
            "auth": kind.auth,
            "cgroup": "v1",
            "overrides": {"slurm_conf": overrides},
        },
        "budget": {"monthly_usd": 1000},
        "state": {"backend": "local"},
    }


def project(folder: Path, lab: Layout, kind: Kind) -> Path:
    """Create a checkout with that environment file, with a comment beside the node; return the file."""
    for name in ("ansible", "ansible.cfg", "examples"):
        (folder / name).symlink_to(ROOT / name)
    (folder / "stacks").mkdir()
    lines = ["config:", "  aws:region: us-east-1", "  landbridge:environment:"]
    for key, value in environment_content(lab, kind).items():
        if key == "onprem":
            row = f"{{hosts: dgx01, platform: {PLATFORM}, address: {ADDRESSES['dgx01']}, rack: r1}}"
            lines += ["    onprem:", "      nodes:", f"        - {row}  # the first"]
            lines += [f"      {name}: {json.dumps(item)}" for name, item in value.items()]
        else:
            lines.append(f"    {key}: {json.dumps(value)}")
    path = folder / "stacks" / f"Pulumi.{STACK}.yaml"
    path.write_text("\n".join(lines) + "\n")
    return path


@dataclass(frozen=True)
class Site(LabCluster):
    """The running cluster, and the folder from which operators manage it."""

    folder: Path = Path()
    path: Path = Path()
    kind: Kind = MUNGE

    def landbridge(self, *words: str, code: int = 0) -> str:
        """Run the program from the folder."""
        return self._operator(Path(sys.executable).with_name("landbridge"), *words, "-s", STACK, code=code)

    def playbook(self, name: str, *words: str, code: int = 0) -> str:
        """Run a playbook by hand, as documented."""
        program = Path(sys.executable).with_name("ansible-playbook")
        return self._operator(program, "-i", self.path, f"ansible/{name}", *words, code=code)

    def _operator(self, *words: object, code: int) -> str:
        search = {"PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
        variables = {
            "XDG_STATE_HOME": str(self.folder / "state"),
            "ANSIBLE_SSH_CONTROL_PATH_DIR": str(self.folder / "cp"),
        }
        try:
            done = subprocess.run(
                [str(word) for word in words],
                cwd=self.folder,
                env={**os.environ, **search, **variables, **fast_ansible_variables(), "ANSIBLE_NOCOLOR": "1"},
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                timeout=OPERATION_SECONDS,
                check=False,
            )
        except subprocess.TimeoutExpired as error:
            raise AssertionError(f"{words} did not end in {OPERATION_SECONDS} s\n{self.describe()}") from error
        output = done.stdout + done.stderr
        assert done.returncode == code, output[-5000:]
        return output

    def states(self) -> dict[str, set[str]]:
        """Return Slurm's state flags of every node."""
        shown = self.json("ctl01", "scontrol", "show", "nodes", "--json")["nodes"]
        return {node["name"]: set(node["state"]) for node in shown}

    def describe(self) -> str:
        """Return Slurm's queue, nodes with reasons, and the end of slurmctld's log."""
        script = "squeue; sinfo -N -o '%N %T %E'; tail -n 30 /var/log/slurm/slurmctld.log"
        return self.run("ctl01", "sh", "-c", script)

    @contextmanager
    def without_health_checks(self, node: str) -> Iterator[None]:
        """Replace the health check program of a node by one that does nothing.

        slurmd starts it every ten seconds here, and it repeats checks whose result is old: on a busy machine a stopped
        timer does not keep it from draining the node.
        """
        program = "/opt/landbridge/bin/landbridge-node-health"
        units = "landbridge-node-health.timer landbridge-node-health.service"
        self.run(node, "sh", "-c", f"systemctl stop {units} && mount --bind /bin/true {program}")
        wait_for(
            "the end of the last health check",
            lambda: self.run(node, "sh", "-c", "pgrep -f '[n]ode_health' || true").strip(),
            lambda processes: not processes,
        )
        try:
            yield
        finally:
            self.run(node, "sh", "-c", f"umount {program} && systemctl start landbridge-node-health.timer")

    def traces(self, node: str) -> Mapping[str, str]:
        """Return the state that a run could change on a node: file contents, packages, and the start of munge and systemd.

        slurmd restarts itself at every reconfiguration of Slurm, whatever its cause; its jobs continue.
        """
        output = self.run(
            node,
            "sh",
            "-c",
            "find /etc /opt/landbridge /usr/lib/systemd -xdev -type f -newermt 2000-01-01 ! -name '*.pyc' "
            "-exec sha256sum {} + | sort -k2; dpkg-query -W | sha256sum; "
            f"systemctl show -p ExecMainStartTimestampMonotonic --value {'munge' if self.kind is MUNGE else 'ssh'}",
        )
        lines = output.splitlines()
        return {
            line.partition("  ")[2] or f"line {number}": line.split()[0] for number, line in enumerate(lines) if line
        }


def home(lab: Layout, node: str) -> None:
    """Mount a stand-in for the homes' file system: the check needs only a mount that answers."""
    done = nodes.exec(lab, node, ["echo 'tmpfs /home tmpfs defaults' >> /etc/fstab && mount /home"])
    assert done.returncode == 0, done.stderr


__all__ = ["ADDRESSES", "MUNGE", "NODES", "SITE", "SLURM", "STACK", "TAGS", "Kind", "Site", "home", "project", "ssh"]
