"""Read returns what create returned: no drift without a change, and all properties from the inputs alone."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from landbridge.environment import load_environment
from sandbox.aws_emulator.process import EmulatorProcess
from sandbox.pulumi_provider import serialization
from sandbox.pulumi_provider.graph import record
from sandbox.pulumi_provider.program import program_of
from tests.graph.conftest import ROOT
from tests.graph.support.apply_without_engine import Making
from tests.graph.support.cloud_only_environment import write


@pytest.fixture
def emptied(cloud: EmulatorProcess) -> Iterator[EmulatorProcess]:
    yield cloud
    cloud.control(wipe=True)


@pytest.mark.parametrize("name", ["hybrid", "regulated", "frontier"])
def test_an_environment_reads_as_it_was_created(
    emptied: EmulatorProcess, environment_file: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    text = (ROOT / "stacks" / f"Pulumi.{name}.yaml").read_text()
    emulated = f"    aws:\n      protect: false\n      endpoints: {{operator: '{emptied.endpoint}'}}\n"
    environment_file.write_text(text.replace("    aws:\n", emulated, 1))
    environment = load_environment(environment_file).environment
    assert environment is not None
    monkeypatch.chdir(ROOT)
    problems = drift(emptied, environment_file, environment.region)
    assert problems == {}, problems


def test_services_in_aws_read_as_they_were_created(
    emptied: EmulatorProcess, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The state volume has its tags, and the controller's root volume has the host's: neither resource changes the other."""
    monkeypatch.chdir(ROOT)
    assert drift(emptied, write(tmp_path, "graph", endpoint=emptied.endpoint), "us-east-1") == {}


def drift(cloud: EmulatorProcess, environment_file: Path, region: str) -> dict[str, object]:
    """Create an environment's resources; return those that then read differently, with the different properties."""
    making = Making(cloud, region)
    program, stack, config = program_of(environment_file)
    record(program, stack=stack, config=config, backing=making, preview=False)
    wrong = dict[str, object]()
    for token, resource_name, id_, inputs, state in making.created:
        read = making.kind(token, inputs).read(id_, state)
        known = making.kind(token, inputs).read(id_, dict(inputs))
        if read is None or known is None:
            wrong[f"{token} {resource_name}"] = "missing"
            continue
        drifted = {key: read[key] for key in inputs if key in read and not _same(read[key], inputs[key])}
        unread = {key for key in state if key not in {**inputs, **known} and key != "tagsAll"}
        if drifted or unread:
            wrong[f"{token} {resource_name}"] = (drifted, unread)
    return wrong


def _same(first: object, second: object) -> bool:
    return bool(serialization.comparable(first) == serialization.comparable(second))
