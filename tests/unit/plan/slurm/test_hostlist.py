"""Host lists in Slurm's syntax: expansion and compression."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from landbridge.hostlist import HostlistError, compress, expand, without_inner_commas

NAMES = st.from_regex(r"[a-z][a-z-]{0,5}[0-9]{0,4}", fullmatch=True)


@pytest.mark.parametrize(
    ("text", "hosts"),
    [
        ("dgx01", ["dgx01"]),
        ("dgx[01-03]", ["dgx01", "dgx02", "dgx03"]),
        ("dgx[01-02,07],login1", ["dgx01", "dgx02", "dgx07", "login1"]),
        ("p5-[1-3]", ["p5-1", "p5-2", "p5-3"]),
        ("n[9-11]", ["n9", "n10", "n11"]),
        ("n[08-11]", ["n08", "n09", "n10", "n11"]),
        ("n[99-101]", ["n99", "n100", "n101"]),
        ("r[1-2]-gpu", ["r1-gpu", "r2-gpu"]),
        ("10.20.1.[11-12]", ["10.20.1.11", "10.20.1.12"]),
    ],
)
def test_a_host_list_is_expanded(text: str, hosts: list[str]) -> None:
    assert expand(text) == hosts


@pytest.mark.parametrize(
    ("text", "offset", "reason"),
    [
        ("", 0, "empty"),
        ("dgx[01-", 3, "never closed"),
        ("dgx01-04]", 8, 'without "["'),
        ("dgx[04-01]", 4, "downwards"),
        ("dgx[1-04]", 4, "same number of digits"),
        ("dgx[100-01]", 4, "same number of digits"),
        ("dgx[a-b]", 4, "neither a number"),
        ("dgx[01..04]", 4, "neither a number"),
        ("dgx[]", 4, "neither a number"),
        ("dgx[01,]", 7, "neither a number"),
        ("dgx[1[2]]", 5, "inside brackets"),
        ("dgx[1-2][3-4]", 8, "only one pair"),
        ("a,,b", 2, "empty"),
        ("a,", 1, "empty"),
        ("dgx 01", 3, "cannot be part"),
        ("dgx[0-99999999]", 4, "more than"),
        ("a[1-40000],b[1-40000]", 11, "more than"),
    ],
)
def test_an_invalid_host_list_is_refused_with_its_position(text: str, offset: int, reason: str) -> None:
    with pytest.raises(HostlistError, match="character") as caught:
        expand(text)
    assert (caught.value.offset, reason in caught.value.reason) == (offset, True), caught.value


@pytest.mark.parametrize(
    ("hosts", "text"),
    [
        ([], ""),
        (["b", "a"], "a,b"),
        (["dgx02", "dgx01", "dgx01"], "dgx[01-02]"),
        (["n9", "n10", "n11"], "n[9-11]"),
        (["n1", "n01"], "n1,n01"),
        (["n1", "n3", "n4", "n7"], "n[1,3-4,7]"),
    ],
)
def test_hosts_are_compressed_to_a_host_list(hosts: list[str], text: str) -> None:
    assert compress(hosts) == text


@given(st.sets(NAMES, min_size=1, max_size=40))
def test_a_compressed_host_list_expands_to_the_same_hosts(hosts: set[str]) -> None:
    assert set(expand(compress(hosts))) == hosts


@given(st.sets(NAMES, min_size=1, max_size=40))
def test_words_without_inner_commas_expand_to_the_same_hosts(hosts: set[str]) -> None:
    words = ",".join(without_inner_commas(compress(hosts))).split(",")
    assert {host for word in words for host in expand(word)} == hosts


@given(st.text(alphabet="dgx0123456789[]-, .é", max_size=20))
def test_any_text_is_expanded_or_refused(text: str) -> None:
    hosts, refusal = _read(text)
    assert refusal is None or 0 <= refusal.offset <= len(text)
    assert set(hosts) == (set(expand(compress(hosts))) if hosts else set())


def _read(text: str) -> tuple[list[str], HostlistError | None]:
    try:
        return expand(text), None
    except HostlistError as error:
        return [], error
