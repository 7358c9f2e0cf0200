"""Debian mirror of this machine, read from apt's configuration."""

import subprocess

from landbridge.realise.slurm_packages.errors import PackagesError

_FORMAT = "$(ORIGIN)\t$(COMPONENT)\t$(REPO_URI)"
_FIX = "name an archive: --mirror http://..."


def debian_mirror() -> str:
    """Return the archive that this machine's own apt takes Debian's `main` from. Raises PackagesError on other
    machines.
    """
    words = ["apt-get", "indextargets", "--format", _FORMAT, "Created-By: Packages"]
    try:
        done = subprocess.run(words, capture_output=True, text=True, timeout=60, check=False)
    except OSError:
        raise PackagesError("there is no apt on this machine", _FIX) from None
    return chosen(done.stdout)


def chosen(targets: str) -> str:
    """Return the archive from apt's output: one repository a line, the system's own first. Pure."""
    for line in targets.splitlines():
        origin, _, rest = line.partition("\t")
        component, _, uri = rest.partition("\t")
        if origin == "Debian" and component == "main" and uri.startswith(("http://", "https://")):
            return uri.rstrip("/")
    raise PackagesError("this machine's apt knows no archive of Debian's", _FIX)
