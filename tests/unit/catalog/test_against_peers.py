"""Every fact that moto, botocore or cfn-lint have too is compared with theirs; differences are listed, with who is right."""

from collections import Counter
from collections.abc import Callable, Iterator

import pytest

from landbridge.catalog.compare import Difference
from landbridge.catalog.differences import KnownDifference, known_differences
from tests.unit.catalog import peers
from tests.unit.catalog.peers import Compared

#: How many facts each comparison is about, at least: a peer that changed its files must not make it compare nothing.
LEAST = {
    peers.moto_types: 2400,
    peers.moto_places: 6500,
    peers.moto_endpoints: 25,
    peers.moto_images: 2,
    peers.botocore_words: 120,
    peers.botocore_ranges: 16,
    peers.botocore_texts: 40,
    peers.botocore_regions: 450,
    peers.cfn_lint_offerings: 4400,
    peers.cfn_lint_schemas: 17,
    peers.cfn_lint_services: 450,
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
    return {(row.peer, one) for row in rows for one in row.each()}


@pytest.mark.parametrize("peer", peers.PEERS, ids=lambda peer: peer.__name__)
def test_enough_is_compared(compared: dict[object, list[Compared]], peer: Callable[[], Iterator[Compared]]) -> None:
    assert len(compared[peer]) >= LEAST[peer]


def test_no_fact_is_compared_with_nothing(compared: dict[object, list[Compared]]) -> None:
    """A text that was reworded must not turn into a comparison of two absent values."""
    assert not [row for rows in compared.values() for row in rows if row.ours is None and row.theirs is None]


def test_every_difference_is_listed(compared: dict[object, list[Compared]]) -> None:
    found = set[tuple[str, Difference]]().union(*(_differing(rows) for rows in compared.values()))
    new = sorted(found - _listed(known_differences()), key=str)
    assert not new, "say in landbridge/catalog/differences.yaml who is right:\n" + "\n".join(map(str, new))


def test_no_listed_difference_has_vanished(compared: dict[object, list[Compared]]) -> None:
    found = set[tuple[str, Difference]]().union(*(_differing(rows) for rows in compared.values()))
    gone = sorted(_listed(known_differences()) - found, key=str)
    assert not gone, "no longer there, take it out of landbridge/catalog/differences.yaml:\n" + "\n".join(
        map(str, gone)
    )


def test_every_row_says_why_once() -> None:
    counted = Counter((row.peer, one) for row in known_differences() for one in row.each())
    assert not [key for key, count in counted.items() if count > 1]
    assert all(len(row.why) > 40 for row in known_differences())
