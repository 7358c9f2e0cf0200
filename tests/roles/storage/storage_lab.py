"""Lab with a file server and a client, configured as operators do: by an account with sudo, over ssh."""

import subprocess
from dataclasses import dataclass
from ipaddress import IPv4Network
from pathlib import Path
from typing import Any

from sandbox.demo.cluster import LabCluster
from sandbox.nspawn.layout import Layout
from sandbox.nspawn.network import ssh
from sandbox.nspawn.site import Machine, plan
from tests.roles.ansible_run import Played, connection, play

SERVER, CLIENT = "nfs01", "gpu01"
ADDRESSES = {SERVER: "10.48.0.14", CLIENT: "10.48.1.11"}
OPERATOR = "ansible"
#: Address at which the lab serves packages to these hosts.
OPERATORS = "10.48.0.254"
SITE = plan(
    IPv4Network("10.48.0.0/16"),
    IPv4Network("10.88.0.0/16"),
    None,
    (Machine(SERVER, ADDRESSES[SERVER], storage=True), Machine(CLIENT, ADDRESSES[CLIENT])),
)
EXPORT, HOME = "/export/home", "/home"
SERVED: dict[str, Any] = {
    "nfs_server_implementation": "ganesha",
    "nfs_server_exports": [{"path": EXPORT, "clients": ["10.48.0.0/16"]}],
    "nfs_server_homes": [{"path": f"{EXPORT}/alice", "owner": 20001}],
}
MOUNTED: dict[str, Any] = {
    "nfs_client_mounts": [{"server": SERVER, "export": EXPORT, "mount": HOME}],
    "nfs_client_accounts": ["alice"],
}


@dataclass(frozen=True)
class Storage:
    """The two hosts."""

    lab: Layout
    folder: Path

    def run(self, host: str, script: str) -> str:
        """Return the output of a root shell on the host."""
        return LabCluster(self.lab).run(host, "sh", "-c", script).strip()

    def settle(self) -> None:
        """Create names and alice's account on the hosts. The client gets an operator as a distribution's installer
        creates one: a home in /home with keys, and sudo."""
        for host in ADDRESSES:
            names = "".join(f"echo {address} {name} >> /etc/hosts; " for name, address in ADDRESSES.items())
            self.run(host, f"{names} useradd --uid 20001 --no-create-home --home-dir /home/alice alice")
        public = Path(f"{self.lab.private_key}.pub").read_text().strip()
        self.run(
            CLIENT,
            "apt-get -qq --no-install-recommends install sudo >/dev/null"
            f" && useradd --create-home --shell /bin/bash {OPERATOR}"
            f" && echo '{OPERATOR} ALL=(ALL) NOPASSWD: ALL' > /etc/sudoers.d/{OPERATOR}"
            f" && install -d -m 700 -o {OPERATOR} -g {OPERATOR} /home/{OPERATOR}/.ssh"
            f" && echo '{public}' > /home/{OPERATOR}/.ssh/authorized_keys"
            f" && chown {OPERATOR}: /home/{OPERATOR}/.ssh/authorized_keys",
        )

    def log_in(self) -> str:
        """Return the output of a new connection of the operator."""
        words = ssh.command(self.lab, ADDRESSES[CLIENT])
        at = next(n for n, word in enumerate(words) if ADDRESSES[CLIENT] in word)
        words[at] = f"{OPERATOR}@{ADDRESSES[CLIENT]}"
        done = subprocess.run(
            [*words, "cd; pwd; sudo -n true && echo may"], capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    def play(self, plays: list[dict[str, Any]], *words: str, user: str = OPERATOR, **variables: Any) -> Played:
        """Run plays, on the client as the operator."""
        hosts: dict[str, dict[str, Any]] = {name: {"ansible_host": address} for name, address in ADDRESSES.items()}
        hosts[CLIENT] |= {"ansible_user": user, "ansible_become": user != "root"}
        known = {"all": {"hosts": hosts, "vars": {**connection(self.lab), **variables}}}
        return play(
            self.lab, self.folder, [{"gather_facts": False, **item} for item in plays], known, *words, fast=False
        )

    def mount(self, *words: str, **variables: Any) -> Played:
        """Run only the client's role."""
        return self.play([{"hosts": CLIENT, "roles": ["nfs_client"]}], *words, **{**MOUNTED, **variables})
