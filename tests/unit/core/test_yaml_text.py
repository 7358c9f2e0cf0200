"""The YAML reader: values and locations of scalars, and no other exception than BadYaml."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from landbridge.yaml_text import PARSER, BadYaml, Mapping, Node, PythonParser, Scalar, Sequence, compose, load
from tests.unit.core.samples import SHIPPED

CATALOGUE = Path(__file__).parents[3] / "landbridge" / "catalog"
TEXTS = [*SHIPPED, *sorted(CATALOGUE.rglob("*.yaml"))]


def seen(node: Node | None) -> Any:
    """Return a tree as plain data with line and column."""
    match node:
        case Scalar():
            return node.line, node.column, node.tag, node.text
        case Sequence():
            return node.line, node.column, [seen(item) for item in node.items]
        case Mapping():
            return node.line, node.column, [(seen(key), seen(value)) for key, value in node.pairs]
    return None


@pytest.mark.parametrize("path", TEXTS, ids=lambda path: path.name)
def test_both_parsers_give_the_same_tree(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert PARSER is not PythonParser, "PyYAML has no libyaml here, and check is slow"
    assert seen(compose(text)) == seen(compose(text, PythonParser))


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("on", "on"),
        ("no", "no"),
        ("True", True),
        ("y", "y"),
        ("1_000", 1000),
        ("0777", 777),
        ("+.5", 0.5),
        (".inf", float("inf")),
        ("-.INF", float("-inf")),
        ("1e3", 1000.0),
        ("1.", 1.0),
        ("-", [None]),
        ("-_", "-_"),
        ("12:30:45", "12:30:45"),
        ("2026-11-20", "2026-11-20"),
        ("!!bool yes", True),
        ("!!str 5", "5"),
        ("!!int 5x", "5x"),
        ("'5'", "5"),
        ("! 5", "5"),
        ("", None),
        ("=", "="),
        ("{a: &x [1], b: *x}", {"a": [1], "b": [1]}),
        ("{1: a, 2.5: b, ~: c}", {1: "a", 2.5: "b", None: "c"}),
        ("%YAML 1.1\n---\non", "on"),
    ],
)
def test_a_scalar_is_loaded_as_its_value(text: str, value: object) -> None:
    assert load(text) == value


@pytest.mark.parametrize("parser", [PARSER, PythonParser])
@pytest.mark.parametrize(
    ("text", "line", "column"),
    [
        ("a: 1\na: 2\n", 2, 1),
        ("a: 1\n0x1: 2\n1: 3\n", 3, 1),
        ("a: !ref b\n", 1, 4),
        ("? [1]\n: 2\n", 1, 3),
        ("é: [\x01]\n", 1, 5),
        ("a: 1\nb: \ud800\n", 2, 4),
        ("a: 1\n--- \nb: 2\n", 2, 1),
        ("[*a]", 1, 2),
        ("- " * 300, 1, 401),
    ],
)
def test_invalid_yaml_is_refused_with_line_and_column(text: str, line: int, column: int, parser: Any) -> None:
    with pytest.raises(BadYaml) as caught:
        load(text, parser)
    assert (caught.value.line, caught.value.column) == (line, column)
    assert caught.value.reason


@pytest.mark.parametrize("parser", [PARSER, PythonParser])
@given(text=st.text(st.sampled_from("ab01.-_:,[]{}&*!|>'\"%@`#?~ \t\n\r\x00\x85\u2028\ud800\ufeffé\\<"), max_size=40))
def test_any_text_is_parsed_or_refused_with_a_location(text: str, parser: Any) -> None:
    bad = None
    try:
        compose(text, parser)
    except BadYaml as error:
        bad = error
    assert bad is None or (bad.line >= 1 and bad.column >= 1 and bad.reason)
