"""YAML with line and column: invalid text is a located finding, never an exception."""

import pytest

from landbridge.environment.file.source import MAX_VALUES, read

BOMB = "a: &a [x,x,x,x,x,x,x,x,x]\n" + "".join(
    f"{chr(98 + n)}: &{chr(98 + n)} [{','.join(['*' + chr(97 + n)] * 9)}]\n" for n in range(9)
)
# The same with merge keys, without anything that counts as a value.
MERGE_BOMB = "a: &a {}\n" + "".join(
    f"{chr(98 + n)}: &{chr(98 + n)} {{<<: [{','.join(['*' + chr(97 + n)] * 9)}]}}\n" for n in range(9)
)


def test_every_value_and_key_has_its_line_and_column() -> None:
    source = read("a:\n  - b: 1\n    c: [x, y]\n", "f")
    assert source.data == {"a": [{"b": 1, "c": ["x", "y"]}]}
    assert source.locate(("a", 0, "b")) == (2, 8)
    assert source.locate(("a", 0, "b"), key=True) == (2, 5)
    assert source.locate(("a", 0, "c")) == (3, 5)
    assert source.locate(("a", 0, "c", 1)) == (3, 12)
    assert source.locate(("a", 0, "gone", "below")) == (2, 5)
    assert source.locate(("elsewhere",)) == (1, 1)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("26.05", 26.05),
        ('"26.05"', "26.05"),
        ("0x10", 16),
        ("0o17", 15),
        ("-3", -3),
        ("1e3", 1000.0),
        ("true", True),
        ("yes", "yes"),
        ("null", None),
        ("~", None),
        ("2026-11-20", "2026-11-20"),
        ("2026-11-20T10:00:00Z", "2026-11-20T10:00:00Z"),
        ("10:30", "10:30"),
    ],
)
def test_a_scalar_has_its_type_and_value(text: str, value: object) -> None:
    assert read(f"x: {text}\n", "f").data == {"x": value}


def test_merge_keys_and_aliases_are_resolved() -> None:
    source = read("base: &b {a: 1, b: 2}\nuse: {<<: *b, b: 3}\n", "f")
    assert source.data["use"] == {"a": 1, "b": 3}
    assert not source.findings


@pytest.mark.parametrize(
    ("text", "rule", "line", "column"),
    [
        ("a: [1, 2\nb: 3\n", "bad-yaml", 2, 2),
        ("a:\n\t- b\n", "bad-yaml", 2, 1),
        ("a: 'x\n", "bad-yaml", 2, 1),
        ("a: 1\na: 2\n", "duplicate-key", 2, 1),
        ("a: !thing x\n", "wrong-type", 1, 4),
        ("? [1, 2]\n: 3\n", "wrong-type", 1, 3),
        ("a: &a [*a]\n", "bad-yaml", 1, 4),
        ("a: 1\n---\nb: 2\n", "bad-yaml", 2, 1),
        (b"a: \xff\n", "bad-yaml", 1, 4),
        (b"a: 1\nb: \x00\n", "bad-yaml", 2, 4),
        ("a: *nowhere\n", "bad-yaml", 1, 4),
        ("%YAML 9\n---\na: 1\n", "bad-yaml", 1, 8),
    ],
)
def test_invalid_yaml_is_a_located_finding(text: str | bytes, rule: str, line: int, column: int) -> None:
    findings = read(text, "f").findings
    assert [(f.rule, f.line, f.column) for f in findings] == [(rule, line, column)], findings


@pytest.mark.parametrize("text", [BOMB, MERGE_BOMB, "[" * 1000, "a: " + "- " * 1000, "a: " + "{a: " * 100_000])
def test_files_that_expand_without_end_are_refused(text: str) -> None:
    source = read(text, "f")
    assert source.data is None
    assert [finding.rule for finding in source.findings] == ["bad-yaml"]
    assert len(source.places) <= MAX_VALUES + 1
