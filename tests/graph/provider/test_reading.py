"""Reading tells whatever creating told: nobody sees drift where there is none, and who only has an id learns the rest."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from landbridge.environment import load_environment
from sandbox.aws_emulator.process import EmulatorProcess
from sandbox.pulumi_provider import serialization
from sandbox.pulumi_provider.graph import record
from sandbox.pulumi_provider.recorder import program_of
from tests.graph.conftest import ROOT
from tests.graph.support.apply_without_engine import Making


@pytest.fixture
def emptied(cloud: EmulatorProcess) -> Iterator[EmulatorProcess]:
    yield cloud
    cloud.control(wipe=True)


@pytest.mark.parametrize("name", ["hybrid", "regulated", "frontier"])
def test_an_environment_reads_as_it_was_made(
    emptied: EmulatorProcess, environment_file: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    text = (ROOT / "stacks" / f"Pulumi.{name}.yaml").read_text()
    emulated = f"    aws:\n      protect: false\n      endpoints: {{operator: '{emptied.endpoint}'}}\n"
    environment_file.write_text(text.replace("    aws:\n", emulated, 1))
    environment = load_environment(environment_file).environment
    assert environment is not None
    monkeypatch.chdir(ROOT)
    making = Making(emptied, environment.region)
    program, stack, config = program_of(environment_file)
    record(program, stack=stack, config=config, backing=making, preview=False)

    wrong = dict[str, object]()
    for token, own, id_, inputs, state in making.made:
        seen = making.kind(token, inputs).read(id_, state)
        known = making.kind(token, inputs).read(id_, dict(inputs))
        if seen is None or known is None:
            wrong[f"{token} {own}"] = "not there"
            continue
        drifted = {key: seen[key] for key in inputs if key in seen and not _same(seen[key], inputs[key])}
        unsaid = {key for key in state if key not in {**inputs, **known} and key != "tagsAll"}
        if drifted or unsaid:
            wrong[f"{token} {own}"] = (drifted, unsaid)
    assert wrong == {}


def _same(one: object, other: object) -> bool:
    return bool(serialization.comparable(one) == serialization.comparable(other))
