"""Start the lab of an environment, in the order of the parts' dependencies."""

import os

from sandbox.nspawn.errors import LabError
from sandbox.nspawn.host import host_packages, shell
from sandbox.nspawn.host import package_cache as packages
from sandbox.nspawn.host import wheelhouse as wheels
from sandbox.nspawn.layout import CHECKOUT, Layout
from sandbox.nspawn.machine import cloud_node, image, nodes
from sandbox.nspawn.network import bridges as network
from sandbox.nspawn.network import relay_process as carrier
from sandbox.nspawn.network import ssh
from sandbox.nspawn.progress import Report, silent, step
from sandbox.nspawn.site import LabSite


def check_host() -> None:
    """Raise LabError unless this machine can run a lab: root and Linux namespaces."""
    if os.geteuid() != 0:
        raise LabError("the lab needs root", "run as root; `make demo` has a level that needs no privileges")
    for kind in ("net", "mnt", "pid", "ipc", "uts"):
        if not os.path.exists(f"/proc/self/ns/{kind}"):
            raise LabError(f"this kernel has no {kind} namespaces", "use another machine or the embedded level")


def prepare(lab: Layout, site: LabSite, report: Report = silent) -> packages.Cache:
    """Install host packages and set up key, networks and package cache, which nodes and the emulated AWS need."""
    check_host()
    host_packages.install(report)
    with shell.explained():
        lab.state.mkdir(parents=True, exist_ok=True)
        lab.state.chmod(0o700)
        lab.owner.write_text(str(CHECKOUT))
        ssh.ensure_key(lab)
        network.up(lab, site.bridges)
        cloud_node.remember(lab, site)
        return packages.start(lab)


def up(lab: Layout, site: LabSite, report: Report = silent) -> list[str]:
    """Start the lab: `prepare`, base image, wheelhouse, relay, nodes. Repeatable; running nodes stay unchanged.

    Return the names of the nodes that it booted.
    """
    cache = prepare(lab, site, report)
    with shell.explained():
        image.ensure_base(lab, cache, report)
        wheels.ensure(lab, wheels.locks(CHECKOUT), report)
        carrier.start(lab, cache, site.operators)
        for node in site.nodes:
            if nodes.exists(lab, node.name) and nodes.load(lab, node.name).platform != node.platform:
                # The host's platform has changed; a node created before nodes had a platform lacks hardware stand-ins.
                nodes.destroy(lab, node.name)
            nodes.create(lab, node)
        image.prune(lab)
        with step(report, f"booting {len(site.nodes)} nodes"):
            booted = nodes.boot_all(lab, [node.name for node in site.nodes])
            nodes.wait_ssh(lab, [node.name for node in site.nodes])
    return booted
