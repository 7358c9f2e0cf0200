"""Limits of the benchmark: ratios of values of one run, read from data."""

from dataclasses import asdict
from pathlib import Path

import pytest

from bench.burst.parts import PARTS
from bench.limits import PEER, Limit, read_limits, show_limits

LIMIT = Limit("pass", "a: CPU s", "one model: CPU s", 4.0, "2026-11-30", "measured", "an example")


def verdict(capsys: pytest.CaptureFixture[str], limit: Limit, **values: float) -> tuple[bool, str]:
    """Return whether a limit is kept, and its printed row."""
    is_good = show_limits([limit], {name.replace("_", " ") + ": CPU s": value for name, value in values.items()})
    return is_good, capsys.readouterr().out.splitlines()[-1]


def test_a_limit_is_a_ratio_of_two_values_of_the_run(capsys: pytest.CaptureFixture[str]) -> None:
    is_good, row = verdict(capsys, LIMIT, a=4.0, one_model=1.0)
    assert is_good and "ABOVE" not in row
    # A machine that is twice as slow.
    assert verdict(capsys, LIMIT, a=8.0, one_model=2.0)[0]
    is_good, row = verdict(capsys, LIMIT, a=4.1, one_model=1.0)
    assert not is_good and row.endswith("ABOVE THE LIMIT")


def test_only_the_peer_may_be_missing(capsys: pytest.CaptureFixture[str]) -> None:
    beside_peer = Limit(**{**asdict(LIMIT), "by": f"{PEER}, small: CPU s"})
    is_good, row = verdict(capsys, beside_peer, a=1.0)
    assert is_good and "not judged" in row
    assert not verdict(capsys, beside_peer)[0]
    is_good, row = verdict(capsys, LIMIT, a=1.0)
    assert not is_good and "NOT MEASURED" in row
    assert not verdict(capsys, LIMIT, one_model=1.0)[0]


def test_every_part_has_limits_with_a_source_and_a_reason() -> None:
    limits = read_limits({*PARTS, "commands", PEER})
    assert {limit.part for limit in limits} == {*PARTS, "commands", PEER}
    assert all(limit.most > 0 and limit.date and limit.source and limit.why for limit in limits)
    assert len({(limit.part, limit.value, limit.by) for limit in limits}) == len(limits)


def test_a_row_with_another_key_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "limits.yaml"
    file.write_text("limits: [{part: pass, value: a, by: b, most: 1, date: d, source: s, why: w, least: 0}]\n")
    with pytest.raises(TypeError, match="least"):
        read_limits({"pass"}, file)
