"""Lab of one host with a cluster's secrets, and operators with homes, checkouts and stores of their own."""

import json
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from ipaddress import IPv4Network
from pathlib import Path
from typing import Any

from sandbox.nspawn.layout import Layout
from sandbox.nspawn.machine import nodes
from sandbox.nspawn.network import netns
from sandbox.nspawn.site import Machine, plan

ROOT = Path(__file__).parents[3]
STACK = "shared"
ONPREM, CLOUD = IPv4Network("10.56.0.0/16"), IPv4Network("10.96.0.0/16")
HOST, ADDRESS = "ctl01", "10.56.0.11"
SITE = plan(ONPREM, CLOUD, None, (Machine(HOST, ADDRESS, storage=True),))
#: Files of the host with a secret of the store, or with its digest.
KEPT = (
    "/etc/munge/munge.key",
    "/etc/slurm/slurmdbd.conf",
    "/etc/slurm/jwt_hs256.key",
    "/etc/landbridge/secrets.sha256",
    "/etc/landbridge/tls/ca.pem",
    "/etc/landbridge/site-certificate/host.pem",
)


def environment_content(lab: Layout, key: Path, secrets: dict[str, str]) -> dict[str, Any]:
    """Return the content of the environment file: slurmctld, slurmdbd, slurmrestd and the login host are one machine."""
    others = dict.fromkeys(("gateway", "mlops"), "gw01")
    return {
        "owner": "a@example.org",
        "secrets": secrets,
        "data_classes": {"internal": {"sites": ["onprem"]}},
        "users": [{"name": "alice", "uid": 20001}],
        "onprem": {
            "cidr": str(ONPREM),
            # It is not among the hosts of a run.
            "nodes": [{"hosts": "dgx01", "platform": "dgx-h100", "address": "10.56.1.11", "rack": "r1"}],
            "driver": {"install": False},
            "services": {**others, "controller": [HOST], "database": HOST, "login": [HOST], "storage": HOST},
            "addresses": {HOST: ADDRESS, "gw01": "10.56.0.1"},
            "access": {
                "user": "root",
                "private_key": str(key),
                "proxy_command": f"nsenter --net={netns.FOLDER / lab.netns} socat - TCP:%h:%p",
                "known_hosts": "/dev/null",
            },
        },
        "aws": {"cidr": str(CLOUD)},
        "link": {"kind": "vpn", "gateway_address": "3.3.3.3", "onprem_asn": 65010},
        "hosts": {"tuning": {"enabled": False}},
        "storage": {"home": {"kind": "nfs", "export": "/export/home", "server": "ganesha"}},
        "scheduler": {
            "slurm": {"version": "24.11", "packages_mirror": None},
            "rest": {},
            "cgroup": "v1",
            "accounts": {"vision": {"users": ["alice"], "data_class": "internal"}},
        },
        "budget": {"monthly_usd": 1000},
    }


@dataclass(frozen=True)
class Operator:
    """Operator with a home folder, a checkout and the password of the store; a machine of her own has nothing else."""

    lab: Layout
    folder: Path
    programs: Path = Path()

    @property
    def password(self) -> Path:
        return self.folder / "home/password"

    @property
    def file(self) -> Path:
        return self.folder / f"checkout/stacks/Pulumi.{STACK}.yaml"

    @property
    def store(self) -> Path:
        return self.file.with_name(f"secrets.{STACK}.yaml")

    @property
    def state(self) -> Path:
        return self.folder / "home/.local/state/landbridge"

    def secrets(self) -> list[str]:
        """Return the names of the files in the operator's own folder of secrets."""
        folder = self.state / STACK / "secrets"
        return sorted(path.name for path in folder.iterdir() if path.is_file()) if folder.is_dir() else []

    def settle(self, kind: str) -> "Operator":
        """Create the home, the checkout and SSH's key."""
        checkout = self.folder / "checkout"
        (checkout / "stacks").mkdir(parents=True)
        for name in ("ansible", "ansible.cfg", "examples"):
            (checkout / name).symlink_to(ROOT / name)
        self.password.parent.mkdir()
        key = self.password.with_name("id_ed25519")
        if self.lab.private_key.exists():
            shutil.copy(self.lab.private_key, key)
        self.describe({"store": kind} | ({"password_file": str(self.password)} if kind == "ansible-vault" else {}))
        return self

    def describe(self, secrets: dict[str, str]) -> None:
        """Write the environment file."""
        content = environment_content(self.lab, self.password.with_name("id_ed25519"), secrets)
        self.file.write_text(json.dumps({"config": {"aws:region": "us-east-1", "landbridge:environment": content}}))

    def write_password(self, text: str) -> None:
        self.password.write_text(text)
        self.password.chmod(0o600)

    def command(self, *words: str) -> subprocess.CompletedProcess[str]:
        """Run the command `landbridge` with nothing of another operator."""
        program = Path(sys.executable).with_name("landbridge")
        passed = {name: value for name, value in os.environ.items() if not name.startswith(("XDG_", "ANSIBLE_"))}
        search = f"{self.programs}:{program.parent}:{os.environ['PATH']}"
        variables = {
            "HOME": str(self.folder / "home"),
            "PATH": search,
            "ANSIBLE_SSH_CONTROL_PATH_DIR": str(self.folder / "cp"),
        }
        return subprocess.run(
            [program, *words, "--file", str(self.file)],
            cwd=self.folder / "checkout",
            env={**passed, **variables},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )

    def good(self, *words: str) -> str:
        done = self.command(*words)
        assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-3000:]
        return done.stdout

    def configure(self) -> dict[str, int]:
        """Run `landbridge configure` on the host; return the counts of tasks."""
        text = self.good("configure", "--format", "json", "--limit", HOST)
        counts: dict[str, int] = json.loads(text[text.find("{") :])["hosts"][HOST]
        return counts


def secret_files(lab: Layout) -> str:
    """Return the checksums of the host's files with secrets, and the starts of the daemons that read them."""
    units = "munge slurmctld slurmdbd slurmrestd"
    command = f"sha256sum {' '.join(KEPT)}; systemctl show -p ExecMainStartTimestampMonotonic --value {units}"
    done = nodes.exec(lab, HOST, [command])
    assert done.returncode == 0, done.stderr + done.stdout
    return str(done.stdout)
