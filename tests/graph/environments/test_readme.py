"""README's steps to a first environment, followed to the letter as far as they need AWS and no host."""

import os
from pathlib import Path

import pytest

from sandbox.aws_emulator.process import EmulatorProcess
from sandbox.pulumi_provider.engine.find import Engine
from tests.graph.support.inventory import client
from tests.graph.support.readme import ROOT, Newcomer, action_table, commands
from tests.graph.support.readme_values import ANSWERS, EDITS

pytestmark = [pytest.mark.engine]
#: Steps that need no host, and the step that shows the hosts of the file.
LAST = 8
STATE = ("PULUMI_BACKEND_URL", "PULUMI_CONFIG_PASSPHRASE", "PULUMI_CONFIG_PASSPHRASE_FILE")


def test_each_text_of_the_steps_is_a_command_that_is_run_or_is_known_as_another_text() -> None:
    of_hosts = {"landbridge configure -s acme", "sbatch examples/digits/digits.sbatch"}
    assert {command for _, command in commands((ROOT / "README.md").read_text())} == {*action_table(), *of_hosts}


def test_a_newcomer_comes_from_a_clone_to_an_inventory(engine: Engine, cloud: EmulatorProcess, tmp_path: Path) -> None:
    # The fixture's state is that of another environment; a newcomer has set none.
    variables = {
        **{name: value for name, value in os.environ.items() if name not in STATE},
        "AWS_SHARED_CREDENTIALS_FILE": str(cloud.operator_credentials),
        "AWS_PROFILE": "default",
        "AWS_EC2_METADATA_DISABLED": "true",
    }
    edits = {**EDITS, ("aws", "endpoints"): {"operator": cloud.endpoint}}
    accepted = frozenset({"aws-endpoints", "gateway-example-address"})
    newcomer = Newcomer(tmp_path / "landbridge", variables, action_table(), ANSWERS, edits, accepted)
    newcomer.clone()
    try:
        newcomer.follow(1, LAST)
        (version,) = client(cloud, "ec2").describe_launch_template_versions(
            LaunchTemplateName="acme-p5", Versions=["$Default"]
        )["LaunchTemplateVersions"]
        (image,) = client(cloud, "ec2").describe_images(
            Owners=["self"], Filters=[{"Name": "tag:landbridge:image", "Values": ["node"]}]
        )["Images"]
        assert version["LaunchTemplateData"]["ImageId"] == image["ImageId"]
    finally:
        # `destroy` keeps the protected resources, and other tests use this AWS.
        cloud.control(wipe=True)
