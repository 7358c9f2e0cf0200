"""YAML parser that returns plain data with the position of each value."""

from dataclasses import dataclass, field
from typing import Any

from landbridge.findings import DataPath, Finding
from landbridge.yaml_text import STANDARD, BadYaml, Mapping, Node, Scalar, Sequence, compose, value_of

# Limits against alias bombs; real files are far smaller.
MAX_VALUES = 200_000
MAX_DEPTH = 60


@dataclass(frozen=True, slots=True)
class SourcePosition:
    """Line and column of a key and of its value, from 1. List items and the root have no key."""

    key: tuple[int, int] | None
    value: tuple[int, int]
    is_scalar: bool


@dataclass(slots=True)
class Source:
    """Plain data of a YAML text, the position of each path in it, and findings about the text."""

    file: str
    data: Any = None
    places: dict[DataPath, SourcePosition] = field(default_factory=dict)
    findings: list[Finding] = field(default_factory=list)
    _values: int = 0

    def locate(self, path: DataPath, *, key: bool = False) -> tuple[int, int]:
        """Return line and column of `path`, or of its nearest ancestor that is in the file.

        The position of a scalar is that of its value, else that of its key; with `key=True` always the key.
        """
        while path not in self.places:
            if not path:
                return (1, 1)
            path, key = path[:-1], True
        place = self.places[path]
        return place.key if place.key and (key or not place.is_scalar) else place.value

    def report(self, rule: str, message: str, path: DataPath, place: tuple[int, int], fix: str | None = None) -> None:
        """Add a finding at an explicit position."""
        self.findings.append(Finding(rule, message, path, fix).at(self.file, *place))


def read(text: str | bytes, file: str) -> Source:
    """Parse `text`. Never raises: invalid text gives a finding with line and column, and `data` is None."""
    source = Source(file)
    try:
        node = compose(text.decode("utf-8-sig") if isinstance(text, bytes) else text)
        if node is not None:
            source.data = _value(source, node, (), None, ())
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        column = error.start - error.object.rfind(b"\n", 0, error.start)
        source.report("bad-yaml", "the file is not UTF-8 text", (), (line, column))
    except BadYaml as error:
        place, fix = (error.line, error.column), "check indentation, quotes and brackets near here"
        source.report("bad-yaml", f"not YAML: {error.reason}", (), place, fix)
    except _EndlessError as error:
        source.report("bad-yaml", "aliases or nesting make this file endless", (), error.place)
    if any(finding.rule == "bad-yaml" for finding in source.findings):
        source.data = None
    return source


class _EndlessError(Exception):
    """Too many values or levels; `place` is the position where parsing stopped."""

    def __init__(self, place: tuple[int, int]) -> None:
        self.place = place
        super().__init__(place)


def _value(source: Source, node: Node, path: DataPath, key: Node | None, above: tuple[int, ...]) -> Any:
    place = _place(node)
    source.places[path] = SourcePosition(_place(key) if key is not None else None, place, isinstance(node, Scalar))
    source._values += 1
    if source._values > MAX_VALUES or len(path) > MAX_DEPTH or id(node) in above:
        raise _EndlessError(place)
    if isinstance(node, Scalar):
        return _scalar(source, node, path)
    above = (*above, id(node))
    if isinstance(node, Sequence):
        return [_value(source, item, (*path, index), None, above) for index, item in enumerate(node.items)]
    return _mapping(source, node, path, above) if isinstance(node, Mapping) else None


def _mapping(source: Source, node: Mapping, path: DataPath, above: tuple[int, ...]) -> dict[str, Any]:
    data: dict[str, Any] = {}
    merged: dict[str, Any] = {}
    for key_node, value_node in node.pairs:
        place = _place(key_node)
        if not isinstance(key_node, Scalar):
            source.report("wrong-type", "a key must be text", path, place)
            continue
        key = _clean(key_node.text)
        if key == "<<" and not isinstance(value_node, Scalar):
            parts = value_node.items if isinstance(value_node, Sequence) else [value_node]
            for part in parts:
                source._values += 1
                if source._values > MAX_VALUES:
                    raise _EndlessError(place)
                if isinstance(part, Mapping) and id(part) not in above:
                    inherited = _mapping(source, part, path, (*above, id(part)))
                    merged = {**inherited, **merged}
            continue
        here = (*path, key)
        if key in data:
            first = source.places[here].key or (1, 1)
            message = f'the key "{key}" is repeated; the first one is on line {first[0]}'
            source.report("duplicate-key", message, here, place, "remove one of the two")
            continue
        data[key] = _value(source, value_node, here, key_node, above)
    return {**merged, **data}


def _scalar(source: Source, node: Scalar, path: DataPath) -> Any:
    """Return the value of a scalar; an unknown tag is a finding."""
    value = value_of(node)
    if not node.tag.startswith(STANDARD):
        source.report("wrong-type", f"the tag {node.tag} is not supported", path, _place(node), "remove the tag")
    return _clean(value) if isinstance(value, str) else value


def _place(node: Node) -> tuple[int, int]:
    return node.line, node.column


def _clean(text: str) -> str:
    """Return the text without lone surrogates, which other programs cannot read."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")
