"""Cloud instances as lab nodes: launch and terminate a node as EC2 does an instance."""

import json
from collections.abc import Callable
from ipaddress import IPv4Network
from pathlib import Path

from sandbox.nspawn.errors import LabError
from sandbox.nspawn.layout import Layout
from sandbox.nspawn.machine import nodes
from sandbox.nspawn.machine.node import names
from sandbox.nspawn.site import LabSite, instance

_PREFIX, _CONSOLE = "i-", "console.log"
#: EC2 keeps this much of a console. Source: EC2 API Reference, GetConsoleOutput.
CONSOLE_BYTES = 64 * 1024


def remember(lab: Layout, site: LabSite) -> None:
    """Store the facts of the site that a launch needs; `lab.up` calls this."""
    (lab.state / "site.json").write_text(json.dumps({"cloud": str(site.cloud)}))


def launch(lab: Layout, instance_id: str, address: str, image: str, gpus: int) -> None:
    """Boot an instance; return once its container has started, in under a second. A second call does nothing.

    `image` is the id of an AMI that `image_builder` has built. The host name has EC2's form: ip-10-60-0-5.
    """
    try:
        cloud = IPv4Network(json.loads((lab.state / "site.json").read_text())["cloud"])
    except FileNotFoundError:
        raise LabError("the lab is not up", "run `landbridge sandbox up`") from None
    nodes.create(lab, instance(instance_id, address, cloud, image, gpus))
    nodes.boot(lab, instance_id)


def terminate(lab: Layout, instance_id: str) -> None:
    """Terminate an instance and delete its disk, but keep its console log; do nothing for an unknown one."""
    log = lab.node(instance_id) / _CONSOLE
    if log.exists():
        _kept_console(lab, instance_id).parent.mkdir(exist_ok=True)
        _kept_console(lab, instance_id).write_bytes(log.read_bytes()[-CONSOLE_BYTES:])
    nodes.destroy(lab, instance_id)


def console(lab: Layout, instance_id: str) -> bytes:
    """Return the end of an instance's console log, also of a terminated instance."""
    for log in (lab.node(instance_id) / _CONSOLE, _kept_console(lab, instance_id)):
        if log.exists():
            return log.read_bytes()[-CONSOLE_BYTES:]
    return b""


def _kept_console(lab: Layout, instance_id: str) -> Path:
    return lab.state / "consoles" / f"{instance_id}.log"


def switched_off(lab: Layout, instance_id: str) -> bool:
    """Return true if an instance has shut itself down. That leaves the supervisor's pid file; a power cut does not."""
    return (lab.node(instance_id) / "supervisor.pid").exists() and not nodes.alive(lab, instance_id)


def running(lab: Layout) -> list[str]:
    """Return the ids of the lab's instances."""
    return [name for name in names(lab) if name.startswith(_PREFIX)]


def power_cut_all(lab: Layout, choose: Callable[[str], bool] = lambda _: True) -> list[str]:
    """Cut the power of instances, as a zone's outage does; return their ids."""
    chosen = [name for name in running(lab) if choose(name)]
    for name in chosen:
        nodes.power_cut(lab, name)
    return chosen
