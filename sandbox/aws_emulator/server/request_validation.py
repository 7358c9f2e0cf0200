"""Validation of requests by botocore's service model: types, lengths, counts, enumerations and patterns.

For services that moto does not have, or answers without validation.
"""

import json
import re
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any
from urllib.parse import parse_qsl, unquote

import botocore.session
from botocore.model import OperationModel
from botocore.validate import ParamValidator

from sandbox.aws_emulator.server.errors import CloudError

Bag = dict[str, Any]


def rest(service: str, environ: Mapping[str, Any], code: str) -> tuple[str, Bag]:
    """Return the operation and parameters of a REST request. Raise CloudError with `code` if they break the model."""
    method, path = environ["REQUEST_METHOD"], str(environ.get("PATH_INFO", ""))
    match = _match(service, method, path)
    if match is None:
        raise CloudError("NotImplementedInSandbox", f"The emulated AWS does not implement {service}:{method} {path}.")
    operation, path_parameters = match
    request = {**body(environ), **path_parameters}
    names = {
        shape.serialization.get("name", key): (key, shape.type_name)
        for key, shape in (operation.input_shape.members if operation.input_shape else {}).items()
    }
    for name, value in parse_qsl(str(environ.get("QUERY_STRING", ""))):
        key, kind = names.get(name, (name, "string"))
        if kind == "list":
            request[key] = [*request.get(key, []), value]
        else:
            request[key] = int(value) if kind == "integer" and value.isdigit() else value
    _judge(operation, request, code)
    return operation.name, request


def named(service: str, name: str, environ: Mapping[str, Any], code: str) -> Bag:
    """Return the parameters of a request of a named operation. Raise CloudError with `code` if they break the model."""
    request = body(environ)
    _judge(_model(service).operation_model(name), request, code)
    return request


def judge(service: str, name: str, request: Bag, code: str) -> None:
    """Raise CloudError with `code` if a request of a named operation breaks the model."""
    _judge(_model(service).operation_model(name), request, code)


def operation_at(service: str, method: str, path: str) -> str | None:
    """Return the operation of a REST request; None if the service does not have it."""
    match = _match(service, method, path)
    return None if match is None else match[0].name


def body(environ: Mapping[str, Any]) -> Bag:
    """Return the JSON body of a request."""
    length = int(environ.get("CONTENT_LENGTH") or 0)
    request: Bag = json.loads(environ["wsgi.input"].read(length)) if length else {}
    return request


def _match(service: str, method: str, path: str) -> tuple[OperationModel, Bag] | None:
    for operation in _operations(service):
        pattern = re.sub(r"\{(\w+)\}", r"(?P<\1>.+)", operation.http["requestUri"])
        match = re.fullmatch(pattern, path)
        if match is not None and operation.http["method"] == method:
            return operation, {key: unquote(value) for key, value in match.groupdict().items()}
    return None


def _judge(operation: OperationModel, request: Bag, code: str) -> None:
    if operation.input_shape is None:
        return
    report = ParamValidator().validate(request, operation.input_shape)
    if report.has_errors():
        raise CloudError(code, report.generate_report())
    for member, value in _violations(operation.input_shape, request):
        message = f"1 validation error detected: Value '{value}' at '{member}' failed to satisfy constraint"
        raise CloudError(code, message)


def _violations(shape: Any, value: Any, name: str = "") -> Iterator[tuple[str, Any]]:
    """Yield every value that breaks the model; botocore's own validator checks only types and minimum lengths."""
    most = shape.metadata.get("max")
    if shape.type_name == "structure":
        for key in set(shape.members) & set(value):
            yield from _violations(shape.members[key], value[key], key)
    elif shape.type_name == "list":
        if most is not None and len(value) > most:
            yield name, value
        for item in value:
            yield from _violations(shape.member, item, name)
    elif isinstance(value, str):
        words, pattern = getattr(shape, "enum", []), shape.metadata.get("pattern")
        long = shape.type_name == "string" and most is not None and len(value) > most
        if long or (words and value not in words) or (pattern and not _pattern(pattern).fullmatch(value)):
            yield name, value
    elif isinstance(value, int | float) and most is not None and value > most:
        yield name, value


@cache
def _pattern(pattern: str) -> re.Pattern[str]:
    # The models have Java's patterns. Python has no character classes by property (\p{L}): those accept every value.
    try:
        return re.compile(pattern)
    except re.error:
        return re.compile(".*", re.DOTALL)


@cache
def _operations(service: str) -> tuple[OperationModel, ...]:
    model = _model(service)
    return tuple(model.operation_model(name) for name in model.operation_names)


@cache
def _model(service: str) -> Any:
    return botocore.session.get_session().get_service_model(service)
