"""Insertion of a CA certificate into an environment file: only `aws.iam.anywhere` and `onprem.aws_credentials` change.

The new text is parsed again and compared with the expected data: a file with an unsupported layout is rejected with the
text to write by hand, and never partly changed.
"""

import json
from copy import deepcopy
from typing import Any

from landbridge.environment.file.edit import refused
from landbridge.environment.file.load import ROOT
from landbridge.environment.file.source import Source, read
from landbridge.findings import DataPath, FindingsError

AWS: DataPath = (*ROOT, "aws")
IAM: DataPath = (*AWS, "iam")
ANYWHERE: DataPath = (*IAM, "anywhere")
SOURCE: DataPath = (*ROOT, "onprem", "aws_credentials")


def with_authority(text: str, file: str, certificate: str) -> str:
    """Return the text with this certificate in `aws.iam.anywhere`, and without `onprem.aws_credentials`.

    Raises FindingsError for an environment without an on-prem site, and for a layout that cannot be changed
    automatically.
    """
    source = read(text, file)
    if source.data is None:
        raise FindingsError(source.findings)
    expected = _expected(source, certificate)
    lines = text.splitlines(keepends=True)
    iam: dict[str, Any] = expected_at(expected, IAM)
    # The later part of the file first, so that the positions of the other part stay valid.
    edits = sorted((path for path in (SOURCE, IAM) if path in source.places or path == IAM), key=source.locate)
    for path in reversed(edits):
        if path == SOURCE:
            first, last = _span(source, lines, SOURCE)
            while first > 1 and lines[first - 2].lstrip().startswith("# `landbridge credentials init`"):
                first -= 1
            del lines[first - 1 : last]
        else:
            _write(source, lines, iam)
    changed = "".join(lines)
    if read(changed, file).data != expected:
        raise _by_hand(source, iam)
    return changed


def expected_at(data: Any, path: DataPath) -> Any:
    """Return the value at a path that exists."""
    for part in path:
        data = data[part]
    return data


def _expected(source: Source, certificate: str) -> Any:
    data = deepcopy(source.data)
    try:
        environment = expected_at(data, ROOT)
        site, aws = environment["onprem"], environment["aws"]
        iam = aws.setdefault("iam", {})
        iam["anywhere"] = {**(iam.get("anywhere") or {}), "certificate": f"{certificate.strip()}\n"}
    except (KeyError, TypeError, AttributeError):
        message = "this file has no on-prem site and AWS account: its hosts need no certificates"
        raise refused(source, "no-site", message, ROOT, "run landbridge check for its findings") from None
    if isinstance(site, dict):
        site.pop("aws_credentials", None)
    return data


def _write(source: Source, lines: list[str], iam: dict[str, Any]) -> None:
    """Replace or insert `aws.iam`; in a block over several lines only `anywhere` is replaced."""
    child = next((place.key for path, place in source.places.items() if path[:-1] == AWS and place.key), None)
    parent = source.places[AWS].key
    if child is None or parent is None or child[0] == parent[0]:
        raise _by_hand(source, iam)
    if IAM not in source.places:
        lines[parent[0] : parent[0]] = _rendered("iam", iam, child[1] - 1)
        return
    first, last = _span(source, lines, IAM)
    if first == last:
        lines[first - 1 : last] = _rendered("iam", iam, child[1] - 1)
        return
    keys = [place.key for path, place in source.places.items() if path[:-1] == IAM and place.key]
    if any(key[0] == first for key in keys):
        raise _by_hand(source, iam)  # a flow mapping over several lines
    if ANYWHERE in source.places:
        start, end = _span(source, lines, ANYWHERE)
        lines[start - 1 : end] = _rendered("anywhere", iam["anywhere"], keys[0][1] - 1)
    else:
        lines[first:first] = _rendered("anywhere", iam["anywhere"], keys[0][1] - 1)


def _span(source: Source, lines: list[str], path: DataPath) -> tuple[int, int]:
    """Return first and last line of a key in a block mapping, from 1."""
    key = source.places[path].key
    if key is None or lines[key[0] - 1][: key[1] - 1].strip():
        raise _by_hand(source, None)  # inside a flow mapping
    last = key[0]
    for number, line in enumerate(lines[key[0] :], key[0] + 1):
        if line.strip() and len(line) - len(line.lstrip(" ")) < key[1]:
            break
        if line.strip():
            last = number
    return key[0], last


def _rendered(key: str, value: dict[str, Any], indent: int) -> list[str]:
    """Return the lines of a mapping: certificates as literal blocks, other values in YAML's flow style."""
    margin, lines = " " * indent, [f"{' ' * indent}{key}:\n"]
    for name, item in value.items():
        if name == "anywhere":
            lines += _rendered(name, item, indent + 2)
        elif name == "certificate":
            lines.append(f"{margin}  certificate: |\n")
            lines += [f"{margin}    {line}\n" for line in item.strip().splitlines()]
        else:
            lines.append(f"{margin}  {name}: {json.dumps(item, ensure_ascii=False, default=str)}\n")
    return lines


def _by_hand(source: Source, iam: dict[str, Any] | None) -> FindingsError:
    text = "".join(_rendered("iam", iam, 6)) if iam else ""
    fix = f"remove onprem.aws_credentials, and write under aws:\n{text}" if text else "change the file by hand"
    return refused(source, "edit-layout", "the file is written in a way that cannot be changed here", IAM, fix)
