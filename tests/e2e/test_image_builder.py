"""Baking a node image with Ansible: built once, found again, and booted from."""

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from sandbox.nspawn import cleanup, from_environment
from sandbox.nspawn import lab as whole
from sandbox.nspawn.errors import LabError
from sandbox.nspawn.layout import Layout, layout
from sandbox.nspawn.machine import cloud_node, image, image_builder, nodes
from sandbox.nspawn.network import relay_process as carrier

pytestmark = pytest.mark.lab
PLAYBOOK = Path("tests/e2e/files/tiny_image.yml")
AMI = "ami-0123456789tiny"


@pytest.fixture
def lab() -> Iterator[Layout]:
    chosen = layout("landbridge-test-bake")
    cleanup.down(chosen)
    site = from_environment.site("sandbox")
    cache = whole.prepare(chosen, site)
    image.ensure_base(chosen, cache)
    carrier.start(chosen, cache, site.operators)
    image.remove(chosen, AMI)
    yield chosen
    cleanup.down(chosen)
    image.remove(chosen, AMI)


def test_an_image_is_built_once_and_instances_boot_from_it(lab: Layout) -> None:
    # Images outlive tests: names that no earlier run can have used.
    sandbox, stamp = from_environment.environment("sandbox"), f"{time.time_ns():x}"
    environment = sandbox.model_copy(update={"name": f"one-{stamp}"})
    assert image_builder.bake(lab, environment, AMI, PLAYBOOK) is True
    first = image.need(lab, AMI)
    assert not nodes.exists(lab, image_builder.BUILDER)
    assert image_builder.bake(lab, environment, AMI, PLAYBOOK) is False
    cloud_node.launch(lab, "i-0aaaaaaaaaaaaaaaa", "10.60.0.5", AMI, 0)
    nodes.wait_ssh(lab, ["i-0aaaaaaaaaaaaaaaa"])
    completed = nodes.exec(
        lab, "i-0aaaaaaaaaaaaaaaa", ["cat /etc/cluster; command -v tree; cat /root/.ssh/authorized_keys"]
    )
    assert completed.stdout.split()[:2] == [environment.name, "/usr/bin/tree"]
    other = sandbox.model_copy(update={"name": f"other-{stamp}"})
    assert image_builder.bake(lab, other, AMI, PLAYBOOK) is True
    assert image.need(lab, AMI) != first
    cloud_node.terminate(lab, "i-0aaaaaaaaaaaaaaaa")
    image.remove(lab, first.id)


def test_a_playbook_that_fails_names_the_task_and_leaves_no_machine(lab: Layout, tmp_path: Path) -> None:
    environment = from_environment.environment("sandbox")
    with pytest.raises(
        LabError, match=r"(?s)Install a package that does not exist.*No package matching 'no-such-package'"
    ):
        image_builder.bake(lab, environment, AMI, PLAYBOOK.with_name("broken_image.yml"))
    assert not nodes.exists(lab, image_builder.BUILDER)
    assert image.find(lab, AMI) is None
