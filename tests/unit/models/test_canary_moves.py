"""Moves of a canary in a real registry: a record each, a signature that is verified, and no second effect."""

import json
from pathlib import Path

import pytest

from landbridge.findings import FindingsError
from landbridge.live.models.canary_moves import CanaryMoves
from landbridge.live.models.registry import ModelRegistry
from landbridge.live.models.transfer import SyncStep, sync
from landbridge.models.signers import trust_of
from tests.unit.models.conftest import Operator
from tests.unit.models.folders import NOW, onnx_bytes, write_folder


@pytest.fixture
def moves(operator: Operator) -> CanaryMoves:
    trust = trust_of([operator.trust.read_text()])
    return CanaryMoves(lambda: ModelRegistry(operator.uri), lambda: trust, "canary", NOW.timestamp)


def published(operator: Operator, folder: Path, name: str, count: int) -> None:
    """Register versions; the first is champion, and the last one staging."""
    for number in range(count):
        reference = operator.publish(write_folder(folder / str(number), onnx_bytes(float(number)), name, version=""))
        operator.promote(reference, "staging", *(["champion"] if number == 0 else []))


def history(operator: Operator, name: str) -> list[tuple[str, str, str]]:
    records = json.loads(operator.run("history", name, "--format", "json").stdout)["records"]
    return [(record["alias"], record["before"], record["after"]) for record in records]


def test_a_promotion_and_a_withdrawal_have_one_record_each(
    operator: Operator, moves: CanaryMoves, other_registry: str, tmp_path: Path
) -> None:
    published(operator, tmp_path, "canary-moves", 2)
    registry = ModelRegistry(operator.uri)
    for _ in range(2):
        moves.promote("canary-moves", "2", "canary: passed")
    assert registry.aliases("canary-moves")["champion"] == "2"
    assert history(operator, "canary-moves")[-1] == ("champion", "1", "2")
    target, classes = ModelRegistry(other_registry), frozenset({"internal"})
    list(sync(registry, target, ["canary-moves"], moves.trust(), classes))
    assert target.aliases("canary-moves") == registry.aliases("canary-moves")
    for _ in range(2):
        moves.withdraw("canary-moves", "2", "canary: errors")
    moves.withdraw("canary-moves", "1", "late")
    assert registry.aliases("canary-moves") == {"candidate": "2", "champion": "2"}
    assert history(operator, "canary-moves")[-2:] == [("champion", "1", "2"), ("staging", "2", "")]
    assert "staging 2 → none" in operator.run("history", "canary-moves").stdout
    # The alias that was taken away has a record: `show` has no finding.
    assert not json.loads(operator.run("show", "canary-moves", "--format", "json").stdout)["findings"]
    moves.tag("canary-moves", "2", {"landbridge.canary.decision": "roll_back"})
    assert registry.version("canary-moves", "2").tags["landbridge.canary.decision"] == "roll_back"
    steps = list(sync(registry, target, ["canary-moves"], moves.trust(), classes))
    assert SyncStep("canary-moves", "staging", "removed") in steps
    assert target.aliases("canary-moves") == registry.aliases("canary-moves")


def test_a_version_that_was_replaced_is_not_promoted(operator: Operator, moves: CanaryMoves, tmp_path: Path) -> None:
    published(operator, tmp_path, "canary-replaced", 2)
    registry = ModelRegistry(operator.uri)
    (tmp_path / "bad").mkdir()
    (tmp_path / "bad/model.onnx").write_bytes(onnx_bytes(9.0))
    registry.upload(registry.version("canary-replaced", "2"), tmp_path / "bad")
    with pytest.raises(FindingsError, match="replaced"):
        moves.promote("canary-replaced", "2", "canary: passed")
    assert registry.aliases("canary-replaced")["champion"] == "1"
