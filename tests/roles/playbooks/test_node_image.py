"""A node image as EC2 Image Builder would make it: its document's own steps, on a machine, and on one started from the result."""

import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from landbridge import yaml_text
from landbridge.environment import Environment, ImageBuild, ImageSource
from landbridge.node_image import Bundle, bundle, steps
from landbridge.plan.node_image.node_image import node_image_args
from sandbox.nspawn import cleanup, from_environment
from sandbox.nspawn import lab as whole
from sandbox.nspawn.layout import Layout, layout
from sandbox.nspawn.machine import cloud_node, image, nodes
from sandbox.nspawn.machine.node import LabNode, load
from sandbox.nspawn.network import bridges as network
from sandbox.nspawn.network import relay_process as carrier
from sandbox.nspawn.network import ssh
from sandbox.nspawn.site import ONPREM, operator_address

pytestmark = [pytest.mark.lab, pytest.mark.long, pytest.mark.timeout(1500)]
ROOT = Path(__file__).parents[3]
BUILDER, INSTANCE = "image-builder", "i-0bbbbbbbbbbbbbbbb"


def asked() -> Environment:
    """The sandbox's environment with an image of its own, whose packages come the way that the lab has."""
    sandbox = from_environment.environment("sandbox")
    build = ImageBuild(apt_mirror="http://deb.debian.org/debian")
    images = {"node": ImageSource(build=build)}
    return sandbox.model_copy(update={"aws": sandbox.aws.model_copy(update={"images": images})})


@pytest.fixture
def lab() -> Iterator[Layout]:
    chosen = layout("landbridge-test-node-image")
    cleanup.down(chosen)
    site = from_environment.site("sandbox")
    cache = whole.prepare(chosen, site)
    image.ensure_base(chosen, cache)
    carrier.start(chosen, cache, site.operators)
    yield chosen
    cleanup.down(chosen)


def test_the_steps_of_the_document_make_an_image_that_verifies_itself(lab: Layout) -> None:
    environment = asked()
    (args,) = node_image_args(environment, {})
    archive = bundle(ROOT, args.variables, args.settings)
    document = yaml_text.load(steps("node", archive, bucket="b", account="1", timeout_minutes=30))
    _builder(lab, environment)
    # Debian's own images know no other suite than theirs: the build has to bring it. A mirror may be of another day.
    old = "echo 'Acquire::Check-Valid-Until \"false\";' > /etc/apt/apt.conf.d/02mirror"
    assert nodes.exec(lab, BUILDER, [f"sed -i /forky/d /etc/apt/sources.list && {old}"]).returncode == 0
    for phase in ("build", "validate"):
        _run(lab, BUILDER, document, phase, archive)
    told = nodes.exec(lab, BUILDER, ["ls /var/tmp/landbridge-image* /usr/bin/ansible-playbook /etc/apt/apt.conf.d/99*"])
    assert told.stdout == ""
    tag = f"ami-{time.time_ns():017x}"[:21]
    made = nodes.commit(lab, BUILDER, f"node-test-{time.time_ns():x}", tags=[tag])
    nodes.destroy(lab, BUILDER)
    try:
        cloud_node.launch(lab, INSTANCE, "10.60.0.6", tag, 0)
        nodes.wait_ssh(lab, [INSTANCE])
        said = _run(lab, INSTANCE, document, "test", archive)
        assert "the image is what it should be" in said and f" {environment.scheduler.slurm.version}." in said
        # What the image promises is asked for, not assumed.
        nodes.exec(lab, INSTANCE, ["install -m 0400 /dev/null /etc/slurm/slurm.key; systemctl disable slurmd"])
        with pytest.raises(AssertionError, match=r"(?s)slurmd does not start at boot.*slurm\.key is in the image"):
            _run(lab, INSTANCE, document, "test", archive)
    finally:
        cloud_node.terminate(lab, INSTANCE)
        image.remove(lab, made.id)


def _builder(lab: Layout, environment: Environment) -> None:
    segment = environment.onprem.cidr if environment.onprem is not None else None
    assert segment is not None
    operator = operator_address(segment)
    nic = network.LabInterface(ONPREM, (f"{segment.broadcast_address - 5}/{segment.prefixlen}",))
    nodes.create(lab, LabNode(BUILDER, (nic,), (f"default via {operator}",), operator=operator))
    nodes.boot(lab, BUILDER)
    nodes.wait_ssh(lab, [BUILDER])


def _run(
    lab: Layout, name: str, document: dict[str, list[dict[str, list[dict[str, str]]]]], phase: str, archive: Bundle
) -> str:
    """Run a phase as the agent does: files are fetched, commands are one script each, and the first that fails ends it."""
    (found,) = [one for one in document["phases"] if str(one["name"]) == phase]
    said = []
    for step in found["steps"]:
        given: dict[str, list[str]] | list[dict[str, str]] = step["inputs"]  # type: ignore[assignment]
        if isinstance(given, list):
            script, content = f"cat > {given[0]['destination']}", archive.content
        else:
            script, content = "bash -s", "\n".join(given["commands"]).encode()
        done = subprocess.run(
            [*ssh.command(lab, load(lab, name).address), script],
            input=content,
            capture_output=True,
            timeout=900,
            check=False,
        )
        told = (done.stdout + done.stderr).decode()
        assert done.returncode == 0, f"{phase}/{step['name']}: {told[-6000:]}"
        said.append(told)
    return "".join(said)
