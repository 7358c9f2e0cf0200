"""YAML to plain data that remembers where everything stood."""

from dataclasses import dataclass, field
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError, YAMLError
from ruamel.yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from landbridge.findings import DataPath, Finding

# A person's file is far smaller; an alias bomb is not.
MAX_VALUES = 200_000
MAX_DEPTH = 60
_STANDARD = "tag:yaml.org,2002:"


@dataclass(frozen=True, slots=True)
class Place:
    """Line and column of a key and of its value, from 1. A list's items and the root have no key."""

    key: tuple[int, int] | None
    value: tuple[int, int]
    is_scalar: bool


@dataclass(slots=True)
class Source:
    """Plain data, the place of every path in it, and what was wrong with the text itself."""

    file: str
    data: Any = None
    places: dict[DataPath, Place] = field(default_factory=dict)
    findings: list[Finding] = field(default_factory=list)
    _values: int = 0

    def locate(self, path: DataPath, *, key: bool = False) -> tuple[int, int]:
        """Line and column of `path`, or of its nearest ancestor that is in the file.

        A scalar is found at its value, a list or a mapping at its key; `key=True` asks for the key always.
        """
        while path not in self.places:
            if not path:
                return (1, 1)
            path, key = path[:-1], True
        place = self.places[path]
        return place.key if place.key and (key or not place.is_scalar) else place.value

    def report(self, rule: str, message: str, path: DataPath, place: tuple[int, int], fix: str | None = None) -> None:
        """Add a finding at a place that is no path's."""
        self.findings.append(Finding(rule, message, path, fix).at(self.file, *place))


def read(text: str | bytes, file: str) -> Source:
    """Parse `text`. Never raises: what cannot be read becomes a finding with line and column, and `data` None."""
    source = Source(file)
    try:
        decoded = text.decode("utf-8-sig") if isinstance(text, bytes) else text
        node = YAML(typ="safe", pure=True).compose(decoded)
        if node is not None:
            source.data = _value(source, node, (), None, ())
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        column = error.start - error.object.rfind(b"\n", 0, error.start)
        source.report("bad-yaml", "the file is not UTF-8 text", (), (line, column))
    except MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        place = (mark.line + 1, mark.column + 1) if mark else (1, 1)
        reason = " ".join(part for part in (error.context, error.problem) if part)
        source.report("bad-yaml", f"not YAML: {reason}", (), place, "check indentation, quotes and brackets near here")
    except _EndlessError as error:
        source.report("bad-yaml", "aliases or nesting make this file endless", (), error.place)
    except RecursionError:
        source.report("bad-yaml", "nested too deeply", (), (1, 1))
    except (YAMLError, ValueError, KeyError, IndexError, TypeError, AttributeError) as error:
        # ruamel.yaml lets some malformed documents out as ordinary exceptions (bad directives, control characters).
        position = getattr(error, "position", None)
        source.report("bad-yaml", f"not YAML: {_first_line(error)}", (), _line_column(text, position))
    if any(finding.rule == "bad-yaml" for finding in source.findings):
        source.data = None
    return source


class _EndlessError(Exception):
    """More values than any environment has; `place` is where reading gave up."""

    def __init__(self, place: tuple[int, int]) -> None:
        self.place = place
        super().__init__(place)


def _value(source: Source, node: Node, path: DataPath, key: Node | None, above: tuple[int, ...]) -> Any:
    place = _place(node)
    source.places[path] = Place(_place(key) if key is not None else None, place, isinstance(node, ScalarNode))
    source._values += 1
    if source._values > MAX_VALUES or len(path) > MAX_DEPTH or id(node) in above:
        raise _EndlessError(place)
    above = (*above, id(node))
    if isinstance(node, MappingNode):
        return _mapping(source, node, path, above)
    if isinstance(node, SequenceNode):
        return [_value(source, item, (*path, index), None, above) for index, item in enumerate(node.value)]
    return _scalar(source, node, path) if isinstance(node, ScalarNode) else None


def _mapping(source: Source, node: MappingNode, path: DataPath, above: tuple[int, ...]) -> dict[str, Any]:
    data: dict[str, Any] = {}
    merged: dict[str, Any] = {}
    for key_node, value_node in node.value:
        place = _place(key_node)
        if not isinstance(key_node, ScalarNode):
            source.report("wrong-type", "a key must be text", path, place)
            continue
        key = _clean(key_node.value)
        if key == "<<" and isinstance(value_node, (MappingNode, SequenceNode)):
            parts = value_node.value if isinstance(value_node, SequenceNode) else [value_node]
            for part in parts:
                if isinstance(part, MappingNode) and id(part) not in above:
                    inherited = _mapping(source, part, path, (*above, id(part)))
                    merged = {**inherited, **merged}
            continue
        here = (*path, key)
        if key in data:
            first = source.places[here].key or (1, 1)
            message = f'the key "{key}" is here a second time; the first is on line {first[0]}'
            source.report("duplicate-key", message, here, place, "remove one of the two")
            continue
        data[key] = _value(source, value_node, here, key_node, above)
    return {**merged, **data}


def _scalar(source: Source, node: ScalarNode, path: DataPath) -> Any:
    """A scalar by YAML 1.2's core rules; dates stay text. An unknown tag is a finding."""
    tag, text = str(node.tag), _clean(node.value)
    if not tag.startswith(_STANDARD):
        source.report("wrong-type", f"the tag {tag} is not supported", path, _place(node), "remove the tag")
        return text
    match tag.removeprefix(_STANDARD):
        case "null":
            return None
        case "bool":
            return text.casefold() in ("true", "yes", "on")
        case "int":
            return _number(text, int)
        case "float":
            return _number(text, float)
        case _:
            return text


def _number(text: str, kind: type[int] | type[float]) -> int | float | str:
    plain = text.replace("_", "").casefold()
    try:
        if kind is int:
            bare = plain.lstrip("+-")
            base = {"0x": 16, "0o": 8, "0b": 2}.get(bare[:2], 10)
            return int(plain, base)
        return float(plain.replace(".inf", "inf").replace(".nan", "nan"))
    except ValueError:
        return text


def _place(node: Node) -> tuple[int, int]:
    mark = node.start_mark
    return (mark.line + 1, mark.column + 1) if mark is not None else (1, 1)


def _clean(text: object) -> str:
    """Text without lone surrogates, which no other program could read back."""
    return str(text).encode("utf-8", "replace").decode("utf-8")


def _first_line(error: BaseException) -> str:
    return next(iter(str(error).splitlines()), type(error).__name__)


def _line_column(text: str | bytes, position: object) -> tuple[int, int]:
    if not isinstance(position, int):
        return (1, 1)
    if isinstance(text, bytes):
        text = text.decode("utf-8-sig", "replace")
    return (text.count("\n", 0, position) + 1, position - text.rfind("\n", 0, position))
