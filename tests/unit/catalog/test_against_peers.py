"""Comparison of the catalogue with moto, botocore and cfn-lint; each difference is listed with the side that is right."""

from collections import Counter
from collections.abc import Callable, Iterator

import pytest

from landbridge.catalog.compare import Difference
from landbridge.catalog.differences import KnownDifference, known_differences
from tests.unit.catalog import peers
from tests.unit.catalog.peers import Compared

#: Minimum number of facts per comparison, so that a peer with changed files does not lead to an empty comparison.
LEAST = {
    peers.moto_types: 2400,
    peers.moto_places: 6500,
    peers.moto_endpoints: 25,
    peers.moto_images: 2,
    peers.botocore_words: 120,
    peers.botocore_ranges: 16,
    peers.botocore_texts: 40,
    peers.botocore_regions: 420,
    peers.cfn_lint_offerings: 4400,
    peers.cfn_lint_schemas: 17,
    peers.cfn_lint_services: 440,
    peers.cfn_lint_iam: 3000,
}


@pytest.fixture(scope="module")
def compared() -> dict[Callable[[], Iterator[Compared]], list[Compared]]:
    return {peer: list(peer()) for peer in peers.PEERS}


def _differing(rows: list[Compared]) -> set[tuple[str, Difference]]:
    return {
        (row.peer, Difference(row.subject, row.fact, row.ours, row.theirs)) for row in rows if row.ours != row.theirs
    }


def _listed(rows: tuple[KnownDifference, ...]) -> set[tuple[str, Difference]]:
    return {(row.peer, difference) for row in rows for difference in row.each()}


@pytest.mark.parametrize("peer", peers.PEERS, ids=lambda peer: peer.__name__)
def test_each_comparison_has_a_minimum_of_facts(
    compared: dict[object, list[Compared]], peer: Callable[[], Iterator[Compared]]
) -> None:
    assert len(compared[peer]) >= LEAST[peer]


def test_no_comparison_has_two_absent_values(compared: dict[object, list[Compared]]) -> None:
    """A reworded text of a peer must not lead to a comparison of two absent values."""
    assert not [row for rows in compared.values() for row in rows if row.ours is None and row.theirs is None]


def test_every_difference_is_listed(compared: dict[object, list[Compared]]) -> None:
    differences = set[tuple[str, Difference]]().union(*(_differing(rows) for rows in compared.values()))
    new = sorted(differences - _listed(known_differences()), key=str)
    assert not new, "add to landbridge/catalog/differences.yaml, with the side that is right:\n" + "\n".join(
        map(str, new)
    )


def test_every_listed_difference_still_exists(compared: dict[object, list[Compared]]) -> None:
    differences = set[tuple[str, Difference]]().union(*(_differing(rows) for rows in compared.values()))
    obsolete = sorted(_listed(known_differences()) - differences, key=str)
    assert not obsolete, "no longer a difference, remove it from landbridge/catalog/differences.yaml:\n" + "\n".join(
        map(str, obsolete)
    )


def test_every_listed_difference_is_unique_and_has_a_reason() -> None:
    counted = Counter((row.peer, difference) for row in known_differences() for difference in row.each())
    assert not [key for key, count in counted.items() if count > 1]
    assert all(len(row.why) > 40 for row in known_differences())
