"""Lab of the cache of datasets: a file server, and a node with the role dataset_cache and users of two groups."""

import subprocess
import tarfile
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any

from sandbox.nspawn.network import ssh
from tests.roles.ansible_run import Played
from tests.roles.storage.storage_lab import ADDRESSES, CLIENT, SERVER, Storage

#: The folder of staged datasets on the server, and on the node.
EXPORT, SITE = "/export/datasets", "/srv/datasets"
SCRATCH, SOCKET = "/scratch", "/run/landbridge-dataset-cache/socket"
ROOT = f"{SCRATCH}/datasets"
SERVED: dict[str, Any] = {
    "nfs_server_implementation": "ganesha",
    "nfs_server_exports": [{"path": EXPORT, "clients": ["10.48.0.0/16"], "root_squash": True}],
}
MOUNTED: dict[str, Any] = {"nfs_client_mounts": [{"server": SERVER, "export": EXPORT, "mount": SITE}]}
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
    },
}
_GROUP = "/sys/fs/cgroup/system.slice/slurmstepd.scope"


@dataclass(frozen=True)
class CacheLab:
    """File server and node."""

    storage: Storage

    def run(self, script: str, host: str = CLIENT) -> str:
        """Return the output of a root shell."""
        return self.storage.run(host, script)

    def settle(self) -> None:
        """Create names, users and groups, the folders of the classes, the NFS mount, and the node's disk."""
        self.storage.settle()
        for host in ADDRESSES:
            self.run("useradd --uid 20402 --no-create-home carol", host)
            for group, number, user in GROUPS.values():
                self.run(f"groupadd --gid {number} {group} && usermod --append --groups {group} {user}", host)
        for name, (group, _, _) in GROUPS.items():
            self.run(f"install -d -m 755 {EXPORT} && install -d -m 750 -g {group} {EXPORT}/{name}", SERVER)
        plays = [{"hosts": SERVER, "roles": ["nfs_server"]}, {"hosts": CLIENT, "roles": ["nfs_client"]}]
        self.storage.play(plays, user="root", **SERVED, **MOUNTED).good()
        self.mount()

    def mount(self) -> None:
        """Mount the node's own disk."""
        self.run(f"install -d {SCRATCH} && mount -t tmpfs -o size=1g,mode=755 scratch {SCRATCH}")

    def configure(self, *words: str, **changes: Any) -> Played:
        """Run the role on the node."""
        plays = [{"hosts": CLIENT, "roles": ["dataset_cache"]}]
        return self.storage.play(plays, *words, user="root", **{**CACHE, **changes})

    def send(self, folder: Path, data_class: str) -> None:
        """Copy a class's staged datasets to the server, readable for the class's group as the mover leaves them."""
        archive = BytesIO()
        with tarfile.open(fileobj=archive, mode="w") as tar:
            tar.add(folder, arcname=".")
        place = f"{EXPORT}/{data_class}"
        words = [
            *ssh.command(self.storage.lab, ADDRESSES[SERVER]),
            f"tar -C {place} --no-same-owner -xf - && chown root:{GROUPS[data_class][0]} {place} && chmod 750 {place}",
        ]
        subprocess.run(words, input=archive.getvalue(), check=True, timeout=300)

    def job(self, number: int, user: str, script: str, data_class: str = "internal") -> str:
        """Return the output of a step of a job: a process of a user in the control group of the job."""
        group = f"{_GROUP}/job_{number}/step_batch"
        step = (
            f"echo $$ > {group}/cgroup.procs; exec setpriv --reuid={user} --regid={user} --init-groups"
            f" env LANDBRIDGE_DATA_CLASS={data_class} sh -c '{script}'"
        )
        return self.run(f'mkdir -p {group}; sh -c "{step}" 2>&1; true')

    def end(self, number: int) -> None:
        """End a job: Slurm removes its control group."""
        self.run(f"rmdir {_GROUP}/job_{number}/step_batch {_GROUP}/job_{number}")

    def bytes_of_server(self) -> int:
        """Return the bytes that the node's kernel has read from the server."""
        rows = self.run(
            "sed -n '/mounted on .srv.datasets /,/^device/p' /proc/self/mountstats | grep -w bytes:"
        ).split()
        # Source: Linux, fs/nfs/iostat.h: the fifth counter is NFSIOS_SERVERREADBYTES.
        return int(rows[5])
