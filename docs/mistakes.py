"""Page of mistakes and the examples of `landbridge explain`, from the rules and the rows that test them."""

import json
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

from landbridge.findings import DataPath, Finding, path_text
from landbridge.rules import RULES
from landbridge.rules.form_findings import FORM_FINDINGS
from tests.unit.core.samples import REMOVED
from tests.unit.rules.parallelcluster import validators
from tests.unit.rules.row import Row
from tests.unit.rules.table import checked_rows, not_checked

_WIDTH = 240
_INTRODUCTION = """\
A test makes each mistake below: it changes a valid environment as in the second column, and expects the message in the third.
`landbridge explain RULE` prints the reason for a rule. A mistake is found in one of these places:

- **check**: `landbridge check`, from the file alone, without a network. All findings come in one run.
- **preflight**: `landbridge preflight`, which queries AWS.
- **cannot be written**: the environment file has no key for it, so no rule is needed.

A finding can be suppressed with `suppress: [{rule: ..., reason: ..., path: ...}]`, except those marked *never*.
"""


def page() -> str:
    """Return docs/reference/mistakes.md."""
    lines = ["# Mistakes and the rules that find them", "", _INTRODUCTION]
    rows = _rows()
    topics = {name: RULES[name].topic if name in RULES else "the file's form" for name in (*FORM_FINDINGS, *RULES)}
    lines.append(f"{len(rows)} mistakes, {len(RULES) + len(FORM_FINDINGS)} rules.")
    for topic in sorted(set(topics.values()), key=lambda topic: (topic != "the file's form", topic)):
        lines += [
            "",
            f"## check: {topic}",
            "",
            "| mistake | in the environment file | message | rule |",
            "| --- | --- | --- | --- |",
        ]
        for row, finding in rows:
            if topics[row.rule] == topic:
                never = "" if row.rule in FORM_FINDINGS or RULES[row.rule].suppressible else ", *never*"
                written = "<br>".join(f"`{_short(line)}`" for line in _dotted(row))
                lines.append(_table_row(row.title, written, _message(finding), f"{row.rule}{never}"))
    for where, heads in (("preflight", "message"), ("cannot be written", "reason")):
        chosen = [mistake for mistake in not_checked() if mistake.where == where]
        if chosen:
            lines += ["", f"## {where}", "", f"| mistake | example | {heads} | rule |", "| --- | --- | --- | --- |"]
            lines += [
                _table_row(mistake.title, f"`{mistake.example}`", mistake.text, mistake.rule or "")
                for mistake in chosen
            ]
    lines += ["", "## AWS ParallelCluster's validators", "", _PARALLELCLUSTER, ""]
    lines += ["| validator | mistake that it finds | in Landbridge |", "| --- | --- | --- |"]
    lines += [_table_row(validator.name, validator.catches, validator.table_cell()) for validator in validators()]
    return "\n".join(lines) + "\n"


_PARALLELCLUSTER = """\
The validators of AWS ParallelCluster that find most mistakes, and the rules of Landbridge that replace them. If no rule does, the cell
has the reason."""


def examples() -> str:
    """Return landbridge/rules/examples.json."""
    examples_by_rule: dict[str, list[dict[str, Any]]] = {}
    for row, finding in _rows():
        written = "\n".join(_short(line) for line in _written(row).splitlines())
        example = {"title": row.title, "written": written, "says": finding.message, "fix": finding.fix}
        examples_by_rule.setdefault(row.rule, []).append({**example, "where": "check"})
    for other in not_checked():
        if other.rule is not None:
            example = {"title": other.title, "written": other.example, "says": other.text, "fix": None}
            examples_by_rule.setdefault(other.rule, []).append({**example, "where": other.where})
    return json.dumps(dict(sorted(examples_by_rule.items())), indent=1, ensure_ascii=False) + "\n"


@cache
def _rows() -> list[tuple[Row, Finding]]:
    """Return each mistake with its finding; a check of all of them takes half a minute."""
    return [(row, _finding(row)) for row in checked_rows()]


def _finding(row: Row) -> Finding:
    return next(f for f in row.report().findings if f.rule == row.rule and f.path == row.path)


def _message(finding: Finding) -> str:
    fix = f" → {finding.fix}" if finding.fix else ""
    return f"{finding.severity.value}: {finding.message}{fix}"


def _table_row(*cells: str) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in cells) + " |"


def _short(line: str) -> str:
    """Return a line, shortened to the maximum width of a table cell."""
    return line if len(line) <= _WIDTH else f"{line[:_WIDTH]} …"


def _dotted(row: Row) -> Iterator[str]:
    """Yield the changes of a row, one line for each path."""
    if row.region != "us-east-1":
        yield f"aws:region: {row.region}"
    for path, value in row.changes.items():
        yield f"{path_text(path)}: {_flow(value)}" if value is not REMOVED else f"no {path_text(path)}"
    for key, value in row.beside.items():
        yield f"{key}: {_flow(value)}"
    if row.edit is not None:
        yield f"{row.edit[1]}".replace("\n", " ")


def _written(row: Row) -> str:
    """Return the changes of a row as YAML."""
    lines = [f"aws:region: {row.region}"] if row.region != "us-east-1" else []
    tree: dict[Any, Any] = {}
    for path, value in row.changes.items():
        _put(tree, path, value)
    lines += _block(tree, "")
    lines += [f"{key}: {_flow(value)}" for key, value in row.beside.items()]
    return "\n".join([*lines, *([row.edit[1]] if row.edit else [])])


def _put(tree: dict[Any, Any], path: DataPath, value: Any) -> None:
    for part in path[:-1]:
        inner = tree.setdefault(part, {})
        if not isinstance(inner, dict):
            inner = tree[part] = dict(enumerate(inner)) if isinstance(inner, list) else {}
        tree = inner
    tree[path[-1]] = dict(value) if isinstance(value, Mapping) and len(path) > 1 else value


def _block(tree: Any, indent: str) -> list[str]:
    lines: list[str] = []
    for key, value in tree.items():
        head = "-" if isinstance(key, int) else f"{key}:"
        if value is REMOVED:
            lines.append(f"{indent}# {key} is missing")
        elif isinstance(value, dict) and value and (len(_flow(value)) > 80 or _has_place(value)):
            inner = _block(value, f"{indent}  ")
            if isinstance(key, int):
                lines += [f"{indent}- {inner[0].lstrip()}", *inner[1:]]
            else:
                lines += [f"{indent}{head}", *inner]
        else:
            lines.append(f"{indent}{head} {_flow(value)}")
    return lines


def _has_place(value: Any) -> bool:
    """Return True if a mapping has list indices, nested mappings or removed keys."""
    return any(isinstance(key, int) or inner is REMOVED or isinstance(inner, dict) for key, inner in value.items())


def _flow(value: Any) -> str:
    """Return a value on one line, quoted only if YAML requires it."""
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{key}: {_flow(item)}" for key, item in value.items() if item is not REMOVED) + "}"
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(_flow(item) for item in value)}]"
    if isinstance(value, str) and value and all(c.isalnum() or c in "-_./@ " for c in value) and not _number(value):
        return value
    return json.dumps(value, ensure_ascii=False)


def _number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return text in ("true", "false", "null", "yes", "no", "on", "off") or text != text.strip()
    return True
