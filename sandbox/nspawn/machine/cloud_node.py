"""Cloud instances as lab nodes: boot and end a node as EC2 does an instance."""

import json
from collections.abc import Callable
from ipaddress import IPv4Network

from sandbox.nspawn.errors import LabError
from sandbox.nspawn.layout import Layout
from sandbox.nspawn.machine import nodes
from sandbox.nspawn.machine.node import names
from sandbox.nspawn.site import LabSite, instance

_PREFIX = "i-"


def remember(lab: Layout, site: LabSite) -> None:
    """Store the facts of the site that a launch needs; `lab.up` calls this."""
    (lab.state / "site.json").write_text(json.dumps({"cloud": str(site.cloud)}))


def launch(lab: Layout, instance_id: str, address: str, image: str, gpus: int) -> None:
    """Boot an instance; returns when its machine has been started, in under a second. A second call is no second boot.

    `image` is the AMI's id, which must have been built (`image_builder`). The host's name is that of EC2: ip-10-60-0-5.
    """
    try:
        cloud = IPv4Network(json.loads((lab.state / "site.json").read_text())["cloud"])
    except FileNotFoundError:
        raise LabError("the lab is not up", "run `landbridge sandbox up`") from None
    nodes.create(lab, instance(instance_id, address, cloud, image, gpus))
    nodes.boot(lab, instance_id)


def terminate(lab: Layout, instance_id: str) -> None:
    """End an instance and wipe its disk. An unknown one is no error."""
    nodes.destroy(lab, instance_id)


def switched_off(lab: Layout, instance_id: str) -> bool:
    """Tell whether an instance has shut itself down: a shutdown leaves a stale pid file of the supervisor, a power cut none."""
    return (lab.node(instance_id) / "supervisor.pid").exists() and not nodes.alive(lab, instance_id)


def running(lab: Layout) -> list[str]:
    """The instances there are."""
    return [name for name in names(lab) if name.startswith(_PREFIX)]


def power_cut_all(lab: Layout, choose: Callable[[str], bool] = lambda _: True) -> list[str]:
    """Fail instances as a zone's outage would; returns which."""
    chosen = [name for name in running(lab) if choose(name)]
    for name in chosen:
        nodes.power_cut(lab, name)
    return chosen
