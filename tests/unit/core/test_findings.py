"""Findings and paths."""

import pytest

from landbridge.findings import Finding, Severity, did_you_mean, has_errors, in_order, path_text


@pytest.mark.parametrize(
    ("word", "known", "near"),
    [
        ("max_node", ["max_nodes", "name"], "max_nodes"),
        ("P5.48XLARGE", ["p5.48xlarge"], "p5.48xlarge"),
        ("zzz", ["max_nodes"], None),
        ("anything", [], None),
    ],
)
def test_the_nearest_known_word_is_proposed(word: str, known: list[str], near: str | None) -> None:
    assert did_you_mean(word, known) == near


def test_a_path_is_printed_with_dots_and_indexes() -> None:
    assert path_text(("aws", "pools", 0, "capacity", 1, "zones")) == "aws.pools[0].capacity[1].zones"


def test_findings_are_ordered_by_location_without_duplicates() -> None:
    late, early = Finding("b", "late").at("f", 9, 1), Finding("a", "early").at("f", 2, 5)
    assert in_order([late, early, late]) == (early, late)


def test_warnings_are_not_errors() -> None:
    warning = Finding("a", "careful", severity=Severity.WARNING)
    assert not has_errors([warning])
    assert has_errors([warning, Finding("b", "wrong")])


def test_a_finding_has_the_same_values_as_text_and_as_data() -> None:
    finding = Finding("overlapping-cidrs", "x overlaps y", ("aws", "cidr"), "choose", related=(("onprem", "cidr"),))
    placed = finding.at("a.yaml", 3, 7)
    assert str(placed) == "a.yaml:3:7: error: x overlaps y [overlapping-cidrs] (choose)"
    assert placed.to_dict()["related"] == [["onprem", "cidr"]]
    assert placed.to_dict()["line"] == 3
