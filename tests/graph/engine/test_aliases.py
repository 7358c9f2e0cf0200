"""Type tokens of components under Pulumi's engine: an update of a stack with the older tokens changes nothing."""

from pathlib import Path

import pytest

from landbridge.environment import Environment
from landbridge.paths import state_dir
from landbridge.realise import pulumi
from sandbox.aws_emulator.process import EmulatorProcess
from sandbox.pulumi_provider.engine.find import Engine
from tests.graph.support.inventory import left

pytestmark = [pytest.mark.engine]


def test_an_older_state_of_components_needs_no_change(
    engine: Engine, cloud: EmulatorProcess, environment: Environment, environment_file: Path
) -> None:
    before = left(cloud)
    pulumi.up(environment, environment_file)
    (state,) = (state_dir("graph") / "pulumi" / ".pulumi" / "stacks").rglob("graph.json")
    text = state.read_text()
    assert "landbridge:components:Network$aws:ec2/vpc:Vpc" in text
    state.write_text(text.replace("landbridge:components:", "landbridge:index:"))
    assert pulumi.up(environment, environment_file).changed == 0
    assert "landbridge:index:" not in state.read_text().replace('"aliases"', "")
    pulumi.destroy(environment, environment_file)
    assert left(cloud) == before
