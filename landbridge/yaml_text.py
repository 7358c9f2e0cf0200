"""YAML parser that returns nodes with line and column, or plain data. It uses libyaml if PyYAML contains it.

PyYAML reads words by YAML 1.1, in which `on` is true and `10:30` is a number. Here its parser only splits the text; the
value of a word follows the core schema of YAML 1.2.2 (chapter 10.3), with the underscores in numbers that 1.1 allows.
A date remains text. A `%YAML` line has no effect.
"""

import contextlib
import re
from typing import Any

import yaml
from yaml.events import (
    AliasEvent,
    CollectionEndEvent,
    DocumentStartEvent,
    MappingStartEvent,
    NodeEvent,
    ScalarEvent,
)
from yaml.parser import Parser
from yaml.reader import Reader
from yaml.scanner import Scanner


class PythonParser(Reader, Scanner, Parser):
    """Parser without libyaml with the same events, ten times slower."""

    def __init__(self, text: str) -> None:
        Reader.__init__(self, text)
        Scanner.__init__(self)
        Parser.__init__(self)


PARSER: Any = PythonParser
with contextlib.suppress(ImportError):  # PyYAML may be built without libyaml
    from yaml.cyaml import CParser as PARSER  # type: ignore[attr-defined]

STANDARD = "tag:yaml.org,2002:"
# Far above real files; a recursive parser would exceed the recursion limit at some depth.
MAX_DEPTH = 200

_NULL = frozenset({"", "~", "null", "Null", "NULL"})
_BOOL = frozenset({"true", "True", "TRUE", "false", "False", "FALSE"})
_INT = re.compile(r"[-+]?(?:0b[01_]+|0o?[0-7_]+|[0-9_]+|0x[0-9a-fA-F_]+)")
_FLOAT = re.compile(
    r"[-+]?[0-9][0-9_]*\.[0-9_]*(?:[eE][-+]?[0-9]+)?|[-+]?[0-9][0-9_]*[eE][-+]?[0-9]+"
    r"|[-+]?\.[0-9_]+(?:[eE][-+][0-9]+)?|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)"
)
_NUMERIC = frozenset("-+.0123456789")
_UNPRINTABLE = re.compile("[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


class BadYaml(Exception):
    """Error of a YAML text; `line` and `column` count from 1."""

    def __init__(self, reason: str, line: int = 1, column: int = 1) -> None:
        self.reason, self.line, self.column = reason, line, column
        super().__init__(f"line {line}, column {column}: {reason}")


class Node:
    """YAML node. `tag` is its explicit tag, else the one that its text implies."""

    __slots__ = ("column", "line", "tag")

    def __init__(self, tag: str, line: int, column: int) -> None:
        self.tag, self.line, self.column = tag, line, column


class Scalar(Node):
    """YAML scalar."""

    __slots__ = ("text",)

    def __init__(self, tag: str, line: int, column: int, text: str) -> None:
        super().__init__(tag, line, column)
        self.text = text


class Sequence(Node):
    """YAML sequence."""

    __slots__ = ("items",)

    def __init__(self, tag: str, line: int, column: int) -> None:
        super().__init__(tag, line, column)
        self.items: list[Node] = []


class Mapping(Node):
    """YAML mapping: keys and values in the order of the text, possibly with duplicate keys."""

    __slots__ = ("pairs",)

    def __init__(self, tag: str, line: int, column: int) -> None:
        super().__init__(tag, line, column)
        self.pairs: list[tuple[Node, Node]] = []


def compose(text: str, parser: Any = PARSER) -> Node | None:
    """Return the root node of a text with one document; None for an empty text. Raises only BadYaml.

    An alias is the same node object as its anchor, so that a tree may contain itself.
    """
    try:
        return _compose(parser(text))
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        reason = " ".join(part for part in (error.context, error.problem) if part)
        raise BadYaml(reason, *((mark.line + 1, mark.column + 1) if mark else (1, 1))) from None
    except (yaml.YAMLError, ValueError) as error:
        # A character that YAML forbids. The C and the Python reader report its position in different units.
        match = _UNPRINTABLE.search(text)
        at = match.start() if match else 0
        name = f"the control character U+{ord(match.group()):04X} is not allowed" if match else _first_line(error)
        raise BadYaml(name, text.count("\n", 0, at) + 1, at - text.rfind("\n", 0, at)) from None


def load(text: str, parser: Any = PARSER) -> Any:
    """Return the plain data of a trusted text. Raises BadYaml, also for duplicate keys and non-standard tags."""
    node = compose(text, parser)
    return None if node is None else _plain(node, {})


def value_of(scalar: Scalar) -> Any:
    """Return the value of a scalar. A scalar with a non-standard tag gives its text."""
    match scalar.tag.removeprefix(STANDARD):
        case "null":
            return None
        case "bool":
            return scalar.text.casefold() in ("true", "yes", "on")
        case "int":
            return _number(scalar.text, int)
        case "float":
            return _number(scalar.text, float)
        case _:
            return scalar.text


class _Tree:
    """Node tree under construction: open sequences and mappings, each with the key that has no value yet."""

    def __init__(self) -> None:
        self.root: Node | None = None
        self.anchors: dict[str, Node] = {}
        self.above: list[tuple[Node | None, Node | None]] = []
        self.holder: Node | None = None
        self.key: Node | None = None

    def add(self, node: Node) -> None:
        """Add a node to the open sequence or mapping."""
        holder = self.holder
        if isinstance(holder, Mapping):
            if self.key is None:
                self.key = node
            else:
                holder.pairs.append((self.key, node))
                self.key = None
        elif isinstance(holder, Sequence):
            holder.items.append(node)
        else:
            self.root = node

    def open(self, node: Node) -> None:
        """Open `node`: later nodes are added to it."""
        self.above.append((self.holder, self.key))
        if len(self.above) > MAX_DEPTH:
            raise BadYaml("nested too deeply", node.line, node.column)
        self.holder, self.key = node, None

    def close(self) -> None:
        """Close the node that was opened last."""
        self.holder, self.key = self.above.pop()


def _compose(parser: Any) -> Node | None:
    tree = _Tree()
    while (event := parser.get_event()) is not None:
        if isinstance(event, CollectionEndEvent):
            tree.close()
        elif isinstance(event, AliasEvent):
            if event.anchor not in tree.anchors:
                raise BadYaml(f'no earlier value has the anchor "{event.anchor}"', *_place(event))
            tree.add(tree.anchors[event.anchor])
        elif isinstance(event, NodeEvent):
            node = _node(event)
            if event.anchor is not None:
                tree.anchors[event.anchor] = node
            tree.add(node)
            if not isinstance(node, Scalar):
                tree.open(node)
        elif isinstance(event, DocumentStartEvent) and tree.root is not None:
            raise BadYaml("a second document starts here", *_place(event))
    return tree.root


def _node(event: Any) -> Node:
    tag, place = event.tag, _place(event)
    if isinstance(event, ScalarEvent):
        if tag is None or tag == "!":
            tag = STANDARD + (_kind(event.value) if tag is None and event.implicit[0] else "str")
        return Scalar(tag, *place, event.value)
    return Mapping(tag, *place) if isinstance(event, MappingStartEvent) else Sequence(tag, *place)


def _place(event: Any) -> tuple[int, int]:
    mark = event.start_mark
    return mark.line + 1, mark.column + 1


def _kind(text: str) -> str:
    """Return the type of a plain scalar without a tag."""
    if text[:1] in _NUMERIC and text:
        if _INT.fullmatch(text):
            return "int"
        return "float" if _FLOAT.fullmatch(text) else "str"
    return "null" if text in _NULL else "bool" if text in _BOOL else "str"


def _number(text: str, kind: type[int] | type[float]) -> int | float | str:
    plain = text.replace("_", "").casefold()
    try:
        if kind is int:
            base = {"0x": 16, "0o": 8, "0b": 2}.get(plain.lstrip("+-")[:2], 10)
            return int(plain, base)
        return float(plain.replace(".inf", "inf").replace(".nan", "nan"))
    except ValueError:
        return text


def _plain(node: Node, known: dict[int, Any]) -> Any:
    """Return the data of a node; an alias gives the same object as its anchor."""
    if id(node) in known:
        return known[id(node)]
    if isinstance(node, Scalar):
        if not node.tag.startswith(STANDARD):
            raise BadYaml(f"the tag {node.tag} is not supported", node.line, node.column)
        return value_of(node)
    if isinstance(node, Sequence):
        items: list[Any] = []
        known[id(node)] = items
        items.extend(_plain(item, known) for item in node.items)
        return items
    data: dict[Any, Any] = {}
    known[id(node)] = data
    for key, value in node.pairs if isinstance(node, Mapping) else ():
        if not isinstance(key, Scalar):
            raise BadYaml("a key must be a word", key.line, key.column)
        name = value_of(key)
        if name in data:
            raise BadYaml(f'the key "{key.text}" is repeated', key.line, key.column)
        data[name] = _plain(value, known)
    return data


def _first_line(error: BaseException) -> str:
    return next(iter(str(error).splitlines()), type(error).__name__)
