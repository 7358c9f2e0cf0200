"""Controller of canaries with two real HTTP servers of metrics: promotion, rollbacks, and a kill between any two effects."""

from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from landbridge.models.canary.decide import CanaryAction, CanaryDecision
from landbridge.models.canary.guards import Guard
from landbridge.models.canary.plan import CanaryPlan
from landbridge.models.canary.tallies import Tally
from landbridge.models.drift.reference import BinnedCounts
from landbridge.serving.canary_controller.controller import step, stored
from landbridge.serving.canary_controller.exposition import cumulative, samples, total
from landbridge.serving.canary_controller.guard_counters import GuardBounds, binned_from, guard_counters, low_bound
from landbridge.serving.canary_controller.looks import look_at, read_samples
from tests.unit.canary_controller.model_servers import ServedPair, served

PLAN = CanaryPlan(
    (Guard("errors", 0.001, 0.01), Guard("latency", 0.05, 0.05), Guard("drift", 0.05, 0.05)),
    requests=100,
    step_seconds=10,
)
BOUNDS = GuardBounds(latency_seconds=0.05, low_confidence=0.5)
VERSIONS = ("digits", "1", "2")


class Killed(Exception):
    """End of the controller between two effects."""


class Effects:
    """Gateway and registry that keep their state, and end the controller at one of its effects."""

    def __init__(self) -> None:
        self.share, self.aliases, self.tags = 0, {"champion": "1", "staging": "2"}, dict[str, str]()
        self.order: list[str] = []
        self.killed_at = -1

    def set_share(self, percent: int) -> None:
        self._effect("weight")
        self.share = percent

    def promote(self, _model: str, version: str, _reason: str) -> None:
        self._effect("alias")
        self.aliases = {"champion": version}

    def withdraw(self, _model: str, version: str, _reason: str) -> None:
        self._effect("alias")
        if self.aliases.get("staging") == version:
            del self.aliases["staging"]

    def tag(self, _model: str, _version: str, tags: Mapping[str, str]) -> None:
        self._effect("tags")
        self.tags.update(tags)

    def _effect(self, name: str) -> None:
        if self.killed_at == len(self.order):
            self.killed_at = -1
            raise Killed
        self.order.append(name)


@pytest.fixture
def pair() -> Iterator[ServedPair]:
    with served() as both:
        yield both


def one_step(pair: ServedPair, at: float, path: Path, effects: Effects) -> CanaryDecision:
    """Make a step by the metrics of both servers, which are read over HTTP."""
    texts = {each.url: read_samples(each.url) for each in (pair.champion, pair.candidate)}
    return step(PLAN, path, look_at(at, texts, "1", "2", BOUNDS), VERSIONS, effects, effects)


def traffic(pair: ServedPair, share: int, failed: float = 0.0, slow: float = 0.02, low: float = 0.03) -> None:
    """Answer 4,000 requests; the shares of bad ones are the candidate's."""
    for each, count, rates in (
        (pair.champion, 4000 * (100 - share) // 100, (0.0005, 0.02, 0.03)),
        (pair.candidate, 4000 * share // 100, (failed, slow, low)),
    ):
        each.requests += count
        each.failed += round(count * rates[0])
        each.slow += round(count * rates[1])
        each.low += round(count * rates[2])


def run(pair: ServedPair, path: Path, effects: Effects, steps: int = 30, **rates: float) -> list[CanaryDecision]:
    """Run steps until the canary has ended; a controller that was killed starts again."""
    decisions = []
    for number in range(steps):
        try:
            decisions.append(one_step(pair, number * 10.0, path, effects))
        except Killed:
            continue
        if decisions[-1].action in (CanaryAction.PROMOTE, CanaryAction.ROLL_BACK):
            break
        traffic(pair, effects.share, **rates)
    return decisions


def test_a_good_candidate_is_promoted(pair: ServedPair, tmp_path: Path) -> None:
    effects = Effects()
    decisions = run(pair, tmp_path / "record", effects)
    assert decisions[-1].action is CanaryAction.PROMOTE
    assert (effects.share, effects.aliases) == (100, {"champion": "2"})
    assert effects.tags["landbridge.canary.decision"] == "promote"
    assert {each.weight for each in decisions} == {1, 10, 50, 100}


@pytest.mark.parametrize(
    ("guard", "rates"), [("errors", {"failed": 0.1}), ("latency", {"slow": 0.3}), ("drift", {"low": 0.4})]
)
def test_a_bad_candidate_is_rolled_back(pair: ServedPair, tmp_path: Path, guard: str, rates: dict[str, float]) -> None:
    effects = Effects()
    decisions = run(pair, tmp_path / "record", effects, **rates)
    assert decisions[-1].action is CanaryAction.ROLL_BACK
    assert decisions[-1].reason.startswith(f"{guard}: candidate ")
    assert (effects.share, effects.aliases) == (0, {"champion": "1"})
    assert effects.order[-3:] == ["weight", "alias", "tags"]


def test_a_crashed_candidate_is_rolled_back(pair: ServedPair, tmp_path: Path) -> None:
    effects = Effects()
    one_step(pair, 0.0, tmp_path / "record", effects)
    pair.candidate.ready = False
    assert one_step(pair, 1.0, tmp_path / "record", effects).action is CanaryAction.HOLD
    assert one_step(pair, 11.0, tmp_path / "record", effects).action is CanaryAction.ROLL_BACK
    assert effects.share == 0


@pytest.mark.parametrize("failed", [0.0, 0.2])
def test_a_kill_at_any_effect_changes_no_outcome(pair: ServedPair, tmp_path: Path, failed: float) -> None:
    whole = Effects()
    run(pair, tmp_path / "whole", whole, failed=failed)
    for killed_at in range(len(whole.order)):
        with served() as other:
            effects = Effects()
            effects.killed_at = killed_at
            path = tmp_path / str(killed_at)
            run(other, path, effects, failed=failed)
            # The step after the last decision applies it again.
            one_step(other, 1e6, path, effects)
            assert (effects.share, effects.aliases) == (whole.share, whole.aliases)
            assert effects.tags["landbridge.canary.decision"] == whole.tags["landbridge.canary.decision"]


def test_a_lost_record_begins_again_at_the_first_weight(pair: ServedPair, tmp_path: Path) -> None:
    effects, path = Effects(), tmp_path / "record"
    one_step(pair, 0.0, path, effects)
    traffic(pair, 10)
    assert one_step(pair, 10.0, path, effects).weight == 10
    path.unlink()
    assert one_step(pair, 20.0, path, effects).weight == 1
    record = stored(path)
    assert record is not None
    assert record.evidence["errors"].candidate == Tally()


def test_metrics_are_read_from_the_text_format() -> None:
    text = """# HELP x y
x_total{a="q\\"\\\\\\n",b="2"} 3 1700000000000
x_total 4.5
x_bucket{le="0.1"} 1
x_bucket{le="+Inf"} 7
broken{ 3
x_total NaNa
"""
    read = tuple(samples(text))
    assert read[0].labels == {"a": 'q"\\\n', "b": "2"}
    assert total(read, "x_total") == 7.5
    assert cumulative(read, "x") == {0.1: 1, float("inf"): 7}


def test_bounds_between_buckets_count_no_good_request_as_bad(pair: ServedPair) -> None:
    pair.candidate.requests, pair.candidate.slow, pair.candidate.low = 100, 7, 4
    read = read_samples(pair.candidate.url)
    assert read is not None
    tallies = guard_counters(read, "2", GuardBounds(latency_seconds=0.03, low_confidence=0.7))
    assert tallies == {
        "errors": Tally(0, 100),
        "refusals": Tally(0, 100),
        "latency": Tally(7, 100),
        "drift": Tally(4, 100),
    }
    assert guard_counters(read, "2", GuardBounds(9.0, 0.1)) == {
        "errors": Tally(0, 100),
        "refusals": Tally(0, 100),
        "latency": Tally(0, 100),
        "drift": Tally(0, 100),
    }
    assert guard_counters(read, "1", BOUNDS) == {}


def test_a_server_that_does_not_answer_has_no_samples() -> None:
    assert read_samples("http://127.0.0.1:9/metrics") is None


def test_histograms_have_the_bins_of_the_reference() -> None:
    counts = {0.1: 1.0, 0.2: 4.0, 1.0: 9.0, float("inf"): 9.0}
    assert binned_from(counts, (0.2,)) == BinnedCounts((0.2,), (4, 5))
    assert binned_from(counts, (0.3,)) is None
    assert low_bound(BinnedCounts((0.1, 0.2, 0.5), (2, 2, 6, 90)), 0.05) == 0.2
