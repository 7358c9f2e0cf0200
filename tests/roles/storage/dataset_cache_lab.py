"""Lab of the cache of datasets: a node with the role dataset_cache, and users of two groups."""

import subprocess
import tarfile
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from shlex import quote
from typing import Any

from sandbox.nspawn.network import ssh
from tests.roles.ansible_run import Played
from tests.roles.storage.storage_lab import ADDRESSES, CLIENT, Storage

#: The folder of staged datasets on the node, in the place of an NFS mount: this lab's NFS client ignores users.
SITE = "/srv/datasets"
#: Control groups of version 2, also on a host of the lab with those of version 1.
CGROUPS = "/run/control-groups"
SCRATCH, SOCKET = "/scratch", "/run/landbridge-dataset-cache/socket"
ROOT = f"{SCRATCH}/datasets"
#: Groups of classes with their members: alice is of the lab, carol of the clinic.
GROUPS = {"internal": ("lab", 30001, "alice"), "restricted": ("clinic", 30002, "carol")}
CACHE: dict[str, Any] = {
    "dataset_cache_mount": SCRATCH,
    "dataset_cache_config": {
        "root": ROOT,
        "source": SITE,
        "socket": SOCKET,
        "classes": {name: {"group": row[0], "keep": name == "internal"} for name, row in GROUPS.items()},
        "limit_bytes": 1 << 30,
        "workers": 4,
        "inspection_seconds": 0.5,
        "cgroups": CGROUPS,
    },
}
_GROUP = f"{CGROUPS}/system.slice/slurmstepd.scope"


@dataclass(frozen=True)
class CacheLab:
    """Node."""

    storage: Storage

    def run(self, script: str) -> str:
        """Return the output of a root shell."""
        return self.storage.run(CLIENT, script)

    def settle(self) -> None:
        """Create users and groups, the folders of the classes, and the node's disk."""
        self.storage.settle()
        self.run("useradd --uid 20402 --no-create-home carol")
        for group, number, user in GROUPS.values():
            self.run(f"groupadd --gid {number} {group} && usermod --append --groups {group} {user}")
        for name in GROUPS:
            self.run(f"install -d -m 755 {SITE} && install -d -m 750 {SITE}/{name}")
        self.run(f"install -d {CGROUPS} && mount -t cgroup2 cgroup2 {CGROUPS}")
        self.mount()

    def mount(self) -> None:
        """Mount the node's own disk."""
        self.run(f"install -d {SCRATCH} && mount -t tmpfs -o size=1g,mode=755 scratch {SCRATCH}")

    def configure(self, *words: str, **changes: Any) -> Played:
        """Run the role on the node."""
        plays = [{"hosts": CLIENT, "roles": ["dataset_cache"]}]
        return self.storage.play(plays, *words, user="root", **{**CACHE, **changes})

    def send(self, folder: Path, data_class: str) -> None:
        """Copy a class's staged datasets to the node, readable for the class's group as the mover leaves them."""
        archive = BytesIO()
        with tarfile.open(fileobj=archive, mode="w") as tar:
            tar.add(folder, arcname=".")
        place, group = f"{SITE}/{data_class}", GROUPS[data_class][0]
        extract = f"tar -C {place} --no-same-owner -xf - && chown root:{group} {place} && chmod 750 {place}"
        words = [*ssh.command(self.storage.lab, ADDRESSES[CLIENT]), extract]
        subprocess.run(words, input=archive.getvalue(), check=True)

    def job(self, number: int, user: str, script: str, data_class: str = "internal") -> str:
        """Return the output of a step of a job: a process of a user in the control group of the job."""
        group = f"{_GROUP}/job_{number}/step_batch"
        step = (
            f"echo $$ > {group}/cgroup.procs; exec setpriv --reuid={user} --regid={user} --init-groups"
            f" env LANDBRIDGE_DATA_CLASS={data_class} sh -c {quote(script)}"
        )
        return self.run(f"mkdir -p {group}; sh -c {quote(step)} 2>&1; true")

    def end(self, number: int) -> None:
        """End a job: Slurm removes its control group."""
        self.run(f"rmdir {_GROUP}/job_{number}/step_batch {_GROUP}/job_{number}")
