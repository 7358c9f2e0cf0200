"""Debian packages that the lab needs on its host: find missing ones and install them."""

import os
import shutil
from collections.abc import Iterable
from dataclasses import dataclass

from sandbox.nspawn.errors import LabError
from sandbox.nspawn.host import shell
from sandbox.nspawn.progress import Report, silent, step


@dataclass(frozen=True)
class HostPackage:
    """Debian package, its purpose in the lab, and a file or program that proves its installation."""

    name: str
    program: str
    purpose: str


PACKAGES = (
    HostPackage("systemd-container", "systemd-nspawn", "boots the nodes"),
    HostPackage("mmdebstrap", "mmdebstrap", "builds the nodes' base image"),
    HostPackage("apt-cacher-ng", "apt-cacher-ng", "carries and caches the nodes' packages"),
    HostPackage("debian-archive-keyring", "/usr/share/keyrings/debian-archive-keyring.gpg", "verifies packages"),
    HostPackage("iproute2", "ip", "network namespaces and bridges"),
    HostPackage("openssh-client", "ssh", "logs in to the nodes"),
    HostPackage("socat", "socat", "carries Ansible's connections into the lab"),
    HostPackage("util-linux", "nsenter", "enters the lab's network namespace"),
    HostPackage("gpg", "gpg", "signs the stand-ins of packages"),
    HostPackage("gpg-agent", "gpg-agent", "holds the key while signing"),
    HostPackage("xfsprogs", "mkfs.xfs", "makes the file system of a node's disks"),
    HostPackage("ca-certificates", "/etc/ssl/certs/ca-certificates.crt", "the certificates the host trusts"),
)

# Debian's PATH of ordinary users lacks the sbin folders.
_SYSTEM_PATH = "/usr/local/sbin:/usr/sbin:/sbin:/usr/local/bin:/usr/bin:/bin"


def find_program(name: str) -> str | None:
    """Return the full path of a host program (or of a file given by its path), also in sbin; None if absent."""
    if name.startswith("/"):
        return name if os.path.exists(name) else None
    return shutil.which(name) or shutil.which(name, path=_SYSTEM_PATH)


def missing(packages: Iterable[HostPackage] = PACKAGES) -> tuple[HostPackage, ...]:
    """Return the packages whose program this machine lacks."""
    return tuple(package for package in packages if find_program(package.program) is None)


def install(report: Report = silent, wanted: Iterable[HostPackage] = PACKAGES) -> tuple[HostPackage, ...]:
    """Install missing packages, after printing their names; return the installed ones."""
    packages = missing(wanted)
    if not packages:
        return ()
    names = [package.name for package in packages]
    if find_program("apt-get") is None:
        raise LabError(f"this machine lacks {', '.join(names)}", "use a Debian or Ubuntu machine: it has no apt-get")
    if os.geteuid() != 0:
        raise LabError(f"this machine lacks {', '.join(names)}", f"as root: apt-get install {' '.join(names)}")
    for package in packages:
        report(f"will install {package.name}: {package.purpose}")
    cacher = "apt-cacher-ng" in names
    if cacher:
        _service("mask")
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    with step(report, f"apt-get install {' '.join(names)}"):
        shell.run(["apt-get", "-q", "update"], env=environment, timeout=300)
        # Another apt-get of this machine may hold dpkg's lock.
        words = ["apt-get", "-qy", "-o", "DPkg::Lock::Timeout=600", "install", "--no-install-recommends", *names]
        shell.run(words, env=environment, timeout=1500)
    if cacher:
        _service("unmask")
        _service("disable")
    return packages


def _service(verb: str) -> None:
    """Prevent the package's service, which listens on every address: the lab runs its own on loopback."""
    if find_program("systemctl"):
        shell.run(["systemctl", "-q", verb, "apt-cacher-ng.service"], check=False)
