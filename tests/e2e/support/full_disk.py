"""Full file system of a lab node: an ext4 image on a loop device of this machine, mounted in the node."""

import subprocess
from pathlib import Path

from sandbox.demo.cluster import ClusterError
from sandbox.nspawn.host import processes
from tests.e2e.support.monitored_site import MonitoredSite

NODE, MOUNT, MIB = "login01", "/mnt/full", 64


def fill(site: MonitoredSite) -> None:
    """Mount a small file system in the node and write until it is full."""
    image = site.deployment.lab.node(NODE) / "full.img"
    with image.open("wb") as file:
        file.truncate(MIB << 20)
    _run("mkfs.ext4", "-q", "-F", str(image))
    device = _run("losetup", "--find", "--show", str(image))
    number = device.removeprefix("/dev/loop")
    script = f"mkdir -p {MOUNT}; test -e {device} || mknod {device} b 7 {number}; mount {device} {MOUNT}"
    _run("nsenter", f"--target={_init(site)}", "--mount", "--", "sh", "-ec", script)
    # The kernel frees the device with its last mount, also if the node is killed.
    _run("losetup", "--detach", device)
    site.run(NODE, f"dd if=/dev/zero of={MOUNT}/file bs=1M status=none || true")


def release(site: MonitoredSite) -> None:
    """Delete the file, as the runbook says, and unmount the file system."""
    site.run(NODE, f"rm {MOUNT}/file")


def unmount(site: MonitoredSite) -> None:
    """Unmount the file system, if it is mounted."""
    site.run(NODE, f"! mountpoint --quiet {MOUNT} || umount {MOUNT}")
    Path(site.deployment.lab.node(NODE) / "full.img").unlink(missing_ok=True)


def _init(site: MonitoredSite) -> int:
    machine = processes.read_pid_file(site.deployment.lab.node(NODE) / "nspawn.pid")
    if machine is None:
        raise ClusterError(f"{NODE} does not run")
    return processes.children(machine.pid)[0].pid


def _run(*words: str) -> str:
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode:
        raise ClusterError(f"{' '.join(words)}: {done.stderr}")
    return done.stdout.strip()
