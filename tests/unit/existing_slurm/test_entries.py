"""Reader of Slurm's lines: comments, continuations, quotes, includes, and positions."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from landbridge.existing_slurm.entries import read_entries


def parsed(text: str, **others: str) -> tuple[list[list[tuple[str, str]]], list[str]]:
    files = {"/e/slurm.conf": text, **{f"/e/{name.replace('_', '.')}": content for name, content in others.items()}}
    entries, findings = read_entries("/e/slurm.conf", files.get, "acme")
    return [[(pair.key, pair.value) for pair in entry.pairs] for entry in entries], [
        finding.rule for finding in findings
    ]


@pytest.mark.parametrize(
    ("text", "pairs"),
    [
        ("A=1\n", [[("A", "1")]]),
        ("A=1", [[("A", "1")]]),
        ("  a = 1  # why\n", [[("a", "1")]]),
        ("# A=1\n\n \n", []),
        (r"A=x\#y" "\n", [[("A", "x#y")]]),
        ('DownNodes=a Reason="fan, HK"\n', [[("DownNodes", "a"), ("Reason", "fan, HK")]]),
        (
            "NodeName=a \\\n  CPUs=4 \\   \n  State=UNKNOWN\n",
            [[("NodeName", "a"), ("CPUs", "4"), ("State", "UNKNOWN")]],
        ),
        ("S=a,\\\nb\n", [[("S", "a,b")]]),
        ("A=1 \\ # comment\nB=2\n", [[("A", "1"), ("B", "2")]]),
        ("A=1 \\", [[("A", "1")]]),
        # Source: parse_config.c, keyvalue_pattern: blanks after the sign are skipped, so the next word is the value.
        ("Gres= Port=1\n", [[("Gres", "Port=1")]]),
        ("Nodes+=a\n", [[("Nodes+", "a")]]),
    ],
)
def test_a_line_has_the_pairs_that_slurm_reads(text: str, pairs: list[list[tuple[str, str]]]) -> None:
    assert parsed(text) == (pairs, [])


@pytest.mark.parametrize("text", ["A\n", "A=1 B\n", '="x"\n', "A=\n"])
def test_a_text_that_is_no_setting_is_reported(text: str) -> None:
    assert parsed(text)[1] == ["not-a-setting"]


def test_an_included_file_takes_the_place_of_its_line() -> None:
    pairs, rules = parsed("A=1\nINCLUDE b.conf\nC=3\n", b_conf="B=2\n")
    assert ([pair[0][0] for pair in pairs], rules) == (["A", "B", "C"], [])
    assert parsed("Include nodes-%c.conf\n", **{"nodes-acme_conf": "B=2\n"})[0] == [[("B", "2")]]


@pytest.mark.parametrize(
    ("text", "others", "rules"),
    [
        ("Include b.conf\n", {}, ["file-not-read"]),
        ("Include slurm.conf\n", {}, ["file-not-read"]),
        ("Include d/b.conf\n", {"d/b_conf": "B=2\n"}, ["include-not-sent"]),
    ],
)
def test_an_include_that_fails_is_reported(text: str, others: dict[str, str], rules: list[str]) -> None:
    assert parsed(text, **others)[1] == rules


def test_positions_are_those_of_the_physical_lines() -> None:
    text = 'A=1\nNodeName=a \\\n  Reason="x y" \\\n  CPUs=4\n'
    entries, _ = read_entries("s", {"s": text}.get)
    lines = text.splitlines()
    for entry in entries:
        for pair in entry.pairs:
            assert lines[pair.at.line - 1][pair.at.column - 1 :].startswith(pair.key)
            assert lines[pair.value_at.line - 1][pair.value_at.column - 1 :].startswith(pair.value)


KEYS = st.from_regex(r"[A-Za-z][A-Za-z0-9_]{0,11}", fullmatch=True)
VALUES = st.from_regex(r"[A-Za-z0-9/.,:\[\]=*-]{1,20}", fullmatch=True)
BLANKS = st.sampled_from([" ", "  ", " \\\n ", "\t"])


@given(st.lists(st.lists(st.tuples(KEYS, VALUES, BLANKS, st.booleans()), min_size=1, max_size=4), max_size=6))
def test_any_written_line_is_read_back(rows: list[list[tuple[str, str, str, bool]]]) -> None:
    text = "".join(
        "".join(f'{key}="{value}"{blank}' if quoted else f"{key}={value}{blank}" for key, value, blank, quoted in row)
        + "# end\n"
        for row in rows
    )
    expected = [[(key, value) for key, value, _, _ in row] for row in rows]
    # A first key `Include` would need no sign; with one it is a key as any other.
    assert parsed(text) == (expected, [])
