"""ONNX file: its protobuf message is read without a library, and each field that can reach outside of the file is refused.

Field numbers and wire types (2026-11-26): onnx/onnx, `onnx.proto3`; Protocol Buffers, "Encoding". A runtime opens other files
for `external_data`, and loads a shared library for an operator of an unknown domain. The whole file is read: its weights are fields
between those that are examined.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field

#: Domains of operators that ONNX Runtime has itself: ONNX, ONNX-ML, and the quantised operators of ONNX Runtime.
STANDARD_DOMAINS = frozenset({"", "ai.onnx", "ai.onnx.ml", "com.microsoft"})
#: Size that a message of protobuf does not reach. Source (2026-11-27): protobuf.dev, "Proto Limits", "Total Size of the Message".
TOO_LARGE = 2 * 2**30
_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5
_FIXED = {_FIXED64: 8, _FIXED32: 4}
#: Landbridge's choice: graphs inside of attributes (If, Loop, Scan) of exported models have less.
_DEEPEST = 32
_MODEL_FIELDS = frozenset({1, 2, 3, 4, 5, 6, 7, 8, 14, 20, 25, 26})
_MODEL_IR_VERSION, _MODEL_GRAPH, _MODEL_OPSET, _MODEL_TRAINING, _MODEL_FUNCTION = 1, 7, 8, 20, 25
_GRAPH_NODE, _GRAPH_TENSOR, _GRAPH_SPARSE = 1, 5, 15
_NODE_OPERATOR, _NODE_ATTRIBUTE, _NODE_DOMAIN = 4, 5, 7
_ATTRIBUTE_TENSOR, _ATTRIBUTE_GRAPH, _ATTRIBUTE_TENSORS, _ATTRIBUTE_GRAPHS = 5, 6, 10, 11
_ATTRIBUTE_SPARSE, _ATTRIBUTE_SPARSES = 22, 23
_SPARSE_VALUES, _SPARSE_INDICES = 1, 2
_TENSOR_NAME, _TENSOR_EXTERNAL, _TENSOR_LOCATION = 8, 13, 14
_FUNCTION_NAME, _FUNCTION_NODE, _FUNCTION_OPSET, _FUNCTION_DOMAIN, _FUNCTION_ATTRIBUTE = 1, 7, 9, 10, 11
_OPSET_DOMAIN = 1
_ENTRY_KEY, _ENTRY_VALUE = 1, 2


class NoProtobuf(ValueError):
    """Bytes that are not messages; the text has the reason."""


@dataclass
class OnnxContents:
    """Facts of an ONNX file that decide whether it is accepted."""

    ir_version: int = 0
    has_graph: bool = False
    has_training: bool = False
    operators: set[tuple[str, str]] = field(default_factory=set)
    opsets: set[str] = field(default_factory=set)
    functions: set[tuple[str, str]] = field(default_factory=set)
    external: list[str] = field(default_factory=list)


def onnx_faults(content: bytes, size: int) -> Iterator[str]:
    """Yield the reasons why a file is not an ONNX model that a runtime reads alone. `content`: all of its bytes, if `size` permits."""
    if size >= TOO_LARGE:
        yield f"an ONNX file is smaller than 2 GiB, and this one has {size} bytes; save the weights as safetensors"
        return
    contents = OnnxContents()
    try:
        _read_model(memoryview(content), contents)
    except NoProtobuf as error:
        yield f"not an ONNX file: {error}"
        return
    if not contents.has_graph or contents.ir_version < 1 or not contents.opsets:
        yield "not an ONNX file: graph, IR version or operator sets are missing"
        return
    if contents.has_training:
        yield "it has training information, which a served model does not need"
    for place in contents.external:
        yield f"external data outside of the file: {place}; save the model with its weights inside"
    custom = sorted(
        f"{domain}::{operator}"
        for domain, operator in contents.operators - contents.functions
        if domain not in STANDARD_DOMAINS
    )
    if custom:
        yield f"operators of other domains need a library: {', '.join(custom)}"
    function_domains = {domain for domain, _ in contents.functions}
    unused = sorted(
        contents.opsets - STANDARD_DOMAINS - function_domains - {domain for domain, _ in contents.operators}
    )
    if unused:
        yield f"operator sets of other domains need a library: {', '.join(unused)}"


def _read_model(message: memoryview, contents: OnnxContents) -> None:
    for number, value in _fields(message):
        if number not in _MODEL_FIELDS:
            raise NoProtobuf(f"unknown field {number}")
        if number == _MODEL_IR_VERSION:
            contents.ir_version = value if isinstance(value, int) else 0
        elif number == _MODEL_GRAPH:
            contents.has_graph = True
            _read_graph(_message(value), contents, 0)
        elif number == _MODEL_OPSET:
            contents.opsets.add(_text_of(_message(value), _OPSET_DOMAIN))
        elif number == _MODEL_TRAINING:
            contents.has_training = True
        elif number == _MODEL_FUNCTION:
            _read_function(_message(value), contents)


def _read_function(message: memoryview, contents: OnnxContents) -> None:
    contents.functions.add((_text_of(message, _FUNCTION_DOMAIN), _text_of(message, _FUNCTION_NAME)))
    for number, value in _fields(message):
        if number == _FUNCTION_NODE:
            _read_node(_message(value), contents, 0)
        elif number == _FUNCTION_ATTRIBUTE:
            _read_attribute(_message(value), contents, 0)
        elif number == _FUNCTION_OPSET:
            contents.opsets.add(_text_of(_message(value), _OPSET_DOMAIN))


def _read_graph(message: memoryview, contents: OnnxContents, depth: int) -> None:
    if depth > _DEEPEST:
        raise NoProtobuf(f"graphs are nested more than {_DEEPEST} times")
    for number, value in _fields(message):
        if number == _GRAPH_NODE:
            _read_node(_message(value), contents, depth)
        elif number == _GRAPH_TENSOR:
            _read_tensor(_message(value), contents)
        elif number == _GRAPH_SPARSE:
            _read_sparse(_message(value), contents)


def _read_node(message: memoryview, contents: OnnxContents, depth: int) -> None:
    contents.operators.add((_text_of(message, _NODE_DOMAIN), _text_of(message, _NODE_OPERATOR)))
    for number, value in _fields(message):
        if number == _NODE_ATTRIBUTE:
            _read_attribute(_message(value), contents, depth)


def _read_attribute(message: memoryview, contents: OnnxContents, depth: int) -> None:
    for number, value in _fields(message):
        if number in (_ATTRIBUTE_TENSOR, _ATTRIBUTE_TENSORS):
            _read_tensor(_message(value), contents)
        elif number in (_ATTRIBUTE_GRAPH, _ATTRIBUTE_GRAPHS):
            _read_graph(_message(value), contents, depth + 1)
        elif number in (_ATTRIBUTE_SPARSE, _ATTRIBUTE_SPARSES):
            _read_sparse(_message(value), contents)


def _read_sparse(message: memoryview, contents: OnnxContents) -> None:
    for number, value in _fields(message):
        if number in (_SPARSE_VALUES, _SPARSE_INDICES):
            _read_tensor(_message(value), contents)


def _read_tensor(message: memoryview, contents: OnnxContents) -> None:
    places, is_external = [], False
    for number, value in _fields(message):
        if number == _TENSOR_EXTERNAL:
            entry = _message(value)
            if _text_of(entry, _ENTRY_KEY) == "location":
                places.append(_text_of(entry, _ENTRY_VALUE))
            is_external = True
        elif number == _TENSOR_LOCATION and value == 1:
            is_external = True
    if is_external:
        contents.external.append(f'{_text_of(message, _TENSOR_NAME) or "tensor"} in "{"".join(places)}"')


def _text_of(message: memoryview, wanted: int) -> str:
    """Return the last text of a field, as protobuf does; empty if the field is absent."""
    text = ""
    for number, value in _fields(message):
        if number == wanted:
            try:
                text = str(_message(value), "utf-8")
            except UnicodeDecodeError:
                raise NoProtobuf("a name is not UTF-8") from None
    return text


def _message(value: int | memoryview) -> memoryview:
    if isinstance(value, int):
        raise NoProtobuf("a number where a message is expected")
    return value


def _fields(message: memoryview) -> Iterator[tuple[int, int | memoryview]]:
    """Yield number and value of each field. The value of a fixed width is its bytes."""
    at, end = 0, len(message)
    while at < end:
        tag, at = _varint(message, at)
        number, wire = tag >> 3, tag & 7
        if number == 0:
            raise NoProtobuf("a field has the number 0")
        if wire == _VARINT:
            value, at = _varint(message, at)
            yield number, value
            continue
        if wire == _BYTES:
            length, at = _varint(message, at)
        elif wire in _FIXED:
            length = _FIXED[wire]
        else:
            raise NoProtobuf(f"unknown wire type {wire}")
        if at + length > end:
            raise NoProtobuf("a field ends after its message")
        yield number, message[at : at + length]
        at += length


def _varint(message: memoryview, at: int) -> tuple[int, int]:
    value = 0
    for shift in range(0, 70, 7):
        if at >= len(message):
            raise NoProtobuf("it ends inside of a number")
        byte = message[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at
    raise NoProtobuf("a number is longer than 10 bytes")
