"""The steps of the EC2 Image Builder document, run on a machine, and tested on a machine started from the image."""

import json
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from landbridge import yaml_text
from landbridge.environment import Environment, ImageBuild, ImageSource
from landbridge.node_image import Bundle, bundle, steps
from landbridge.plan.aws.node_health import pool_health
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

pytestmark = [pytest.mark.lab, pytest.mark.long]
ROOT = Path(__file__).parents[3]
BUILDER, INSTANCE = "image-builder", "i-0bbbbbbbbbbbbbbbb"


def image_environment() -> Environment:
    """Return the sandbox's environment with an image build from the package mirror that the lab can reach."""
    sandbox = from_environment.environment("sandbox")
    build = ImageBuild(parent="debian-13", apt_mirror="http://deb.debian.org/debian")
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


def test_the_steps_of_the_document_build_an_image_that_passes_its_tests(lab: Layout) -> None:
    environment = image_environment()
    (args,) = node_image_args(environment, {})
    archive = bundle(ROOT, args.variables, args.settings)
    document = yaml_text.load(steps("node", archive, bucket="b", account="1", timeout_minutes=30))
    _builder(lab, environment)
    # Debian's own images have no other suite: the build must add it. A mirror may be older than its validity.
    old = "echo 'Acquire::Check-Valid-Until \"false\";' > /etc/apt/apt.conf.d/02mirror"
    assert nodes.exec(lab, BUILDER, [f"sed -i /forky/d /etc/apt/sources.list && {old}"]).returncode == 0
    for phase in ("build", "validate"):
        _run(lab, BUILDER, document, phase, archive)
    listing = nodes.exec(
        lab, BUILDER, ["ls /var/tmp/landbridge-image* /usr/bin/ansible-playbook /etc/apt/apt.conf.d/99*"]
    )
    assert listing.stdout == ""
    tag = f"ami-{time.time_ns():017x}"[:21]
    committed = nodes.commit(lab, BUILDER, f"node-test-{time.time_ns():x}", tags=[tag])
    nodes.destroy(lab, BUILDER)
    try:
        cloud_node.launch(lab, INSTANCE, "10.60.0.6", tag, 0)
        nodes.wait_ssh(lab, [INSTANCE])
        output = _run(lab, INSTANCE, document, "test", archive)
        assert "the image fulfils its contract" in output and f" {environment.scheduler.slurm.version}." in output
        _check_health(lab, environment)
        # A wrong image fails the test phase.
        nodes.exec(lab, INSTANCE, ["install -m 0400 /dev/null /etc/slurm/slurm.key; systemctl disable slurmd"])
        with pytest.raises(AssertionError, match=r"(?s)slurmd does not start at boot.*slurm\.key is in the image"):
            _run(lab, INSTANCE, document, "test", archive)
    finally:
        cloud_node.terminate(lab, INSTANCE)
        image.remove(lab, committed.id)


def _check_health(lab: Layout, environment: Environment) -> None:
    """The image has the health checks, and the node writes the expectations of its pool at the first check of a boot."""
    units = "landbridge-node-health.timer landbridge-node-health.service"
    states = nodes.exec(
        lab, INSTANCE, [f"systemctl show -P UnitFileState {units}; cat /etc/landbridge/node-health.json"]
    )
    assert states.stdout.split()[:2] == ["enabled", "static"]
    assert '"expected": {}' in states.stdout, "an image is for several pools"
    pool = environment.aws.pools[0]
    content = json.dumps({"pool": pool.name, "mounts": [], "health": pool_health(environment, pool)})
    written = "/run/landbridge-node-health/expected.json"
    command = f"cat > /etc/landbridge/pool.json <<'END'\n{content}\nEND\nrm -f {written}; systemctl start landbridge-node-health"
    output = nodes.exec(lab, INSTANCE, [f"{command}; cat {written}; rm /etc/landbridge/pool.json {written}"])
    assert json.loads(output.stdout)["expected"]["mounts"] == [environment.storage.home.mount], output.stderr


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
    """Run a phase as the agent does: fetch files, run each command list as one script, stop at the first failure."""
    (phase_data,) = [candidate for candidate in document["phases"] if str(candidate["name"]) == phase]
    outputs = []
    for step in phase_data["steps"]:
        inputs: dict[str, list[str]] | list[dict[str, str]] = step["inputs"]  # type: ignore[assignment]
        if isinstance(inputs, list):
            script, content = f"cat > {inputs[0]['destination']}", archive.content
        else:
            script, content = "bash -s", "\n".join(inputs["commands"]).encode()
        completed = subprocess.run(
            [*ssh.command(lab, load(lab, name).address), script],
            input=content,
            capture_output=True,
            check=False,
        )
        output = (completed.stdout + completed.stderr).decode()
        assert completed.returncode == 0, f"{phase}/{step['name']}: {output[-6000:]}"
        outputs.append(output)
    return "".join(outputs)
