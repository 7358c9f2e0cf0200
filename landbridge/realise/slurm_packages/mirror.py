"""Debian mirror and processor architecture of this machine, read from apt's and dpkg's configuration."""

import subprocess

from landbridge.realise.slurm_packages.errors import PackagesError

_FORMAT = "$(ORIGIN)\t$(COMPONENT)\t$(REPO_URI)"


def debian_mirror() -> str | None:
    """Return the mirror from which this machine's apt installs Debian's `main`; None if there is none.

    Raises PackagesError on a machine without apt.
    """
    words = ["apt-get", "indextargets", "--format", _FORMAT, "Created-By: Packages"]
    return mirror_of(_output(words))


def host_architecture() -> str:
    """Return this machine's architecture in Debian's words, such as amd64. Raises PackagesError without dpkg."""
    return _output(["dpkg", "--print-architecture"]).strip()


def mirror_of(targets: str) -> str | None:
    """Return the first Debian mirror in apt's output, which has one repository in each line; None without one. Pure."""
    for line in targets.splitlines():
        origin, _, remainder = line.partition("\t")
        component, _, uri = remainder.partition("\t")
        if origin == "Debian" and component == "main" and uri.startswith(("http://", "https://")):
            return uri.rstrip("/")
    return None


def _output(words: list[str]) -> str:
    try:
        return subprocess.run(words, capture_output=True, text=True, timeout=60, check=False).stdout
    except OSError:
        raise PackagesError(f"{words[0]} is missing", "build on a machine with Debian or Ubuntu") from None
