"""Reader of answers: from a YAML file or plain data to the typed model, with all findings at once."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError

from landbridge.catalog import platforms
from landbridge.catalog.assessment import assessment_facts
from landbridge.economics.assessment.answers import Answers
from landbridge.economics.assessment.contradictions import contradictions
from landbridge.environment.file.source import Source, read
from landbridge.findings import DataPath, Finding, did_you_mean, has_errors, in_order, path_text

#: Paths that must be answered.
REQUIRED: tuple[DataPath, ...] = (
    ("workloads",),
    ("utilisation", "gpu"),
    ("utilisation", "mean_gpus"),
    ("utilisation", "peak_gpus"),
)
_MAX_FINDINGS = 200
_LISTS = ("classes", "machines")


@dataclass(frozen=True, slots=True)
class AnswersFile:
    """Answers that were read, and all findings. `answers` is None if there is an error."""

    answers: Answers | None
    findings: tuple[Finding, ...]


def read_answers(text: str | bytes, file: str) -> AnswersFile:
    """Read answers from the text of a YAML file; findings have line and column. Never raises for bad content."""
    source = read(text, file)
    if source.findings and source.data is None:
        return AnswersFile(None, in_order(source.findings))
    outcome = answers_of(source.data)
    located = [_located(source, finding) for finding in outcome.findings]
    findings = in_order([*source.findings, *located])
    return AnswersFile(None if has_errors(findings) else outcome.answers, findings)


def answers_of(data: Any) -> AnswersFile:
    """Return the answers of plain data, such as the answers to the prompts, with findings without positions."""
    if not isinstance(data, Mapping):
        fix = "begin with workloads: and utilisation:"
        return AnswersFile(None, (Finding("wrong-type", "the answers must be a mapping", (), fix),))
    work: dict[str, Any] = json.loads(json.dumps(data, default=str))
    findings: list[Finding] = [
        Finding("missing-key", f"{path_text(path)} is missing", path, "answer it: landbridge assess --help")
        for path in (*REQUIRED, *_required_in_lists(work))
        if not _has(work, path)
    ]
    answers = Answers()
    for _ in range(_MAX_FINDINGS):
        try:
            answers = Answers.model_validate_json(json.dumps(work))
            break
        except ValidationError as problem:
            # One error for each round: removing a value moves no other one.
            error = problem.errors(include_url=False)[0]
            path = _data_path(work, error["loc"])
            findings.append(_shape_finding(path, dict(error)))
            _remove(work, path)
    # A share that was not read makes their sum wrong: one fault is enough.
    unread = any(finding.path[:1] == ("workloads",) for finding in findings)
    findings += [finding for finding in contradictions(answers, work) if not (unread and finding.rule == "shares-sum")]
    ordered = in_order(findings)
    return AnswersFile(None if has_errors(ordered) else answers, ordered)


def _required_in_lists(data: Mapping[str, Any]) -> list[DataPath]:
    """Return the paths of the required keys in each item of a list."""
    paths: list[DataPath] = []
    for section, name, keys in (("data", "classes", ("name",)), ("constraints", "machines", ("platform", "nodes"))):
        items = data[section].get(name) if isinstance(data.get(section), dict) else None
        if isinstance(items, list):
            paths += [(section, name, i, key) for i, item in enumerate(items) if isinstance(item, dict) for key in keys]
    return paths


def _has(data: Any, path: DataPath) -> bool:
    return _data_path(data, path) == path


def _data_path(data: Any, loc: tuple[str | int, ...]) -> DataPath:
    """Return the part of pydantic's location that is in the data; it may end in words of the type."""
    path: DataPath = ()
    for part in loc:
        inside = (isinstance(data, dict) and part in data) or (
            isinstance(data, list) and isinstance(part, int) and part < len(data)
        )
        if not inside:
            break
        data = data[part]
        path = (*path, part)
    return path


def _remove(data: Any, path: DataPath) -> None:
    """Remove the value at a path. An item of a list of mappings becomes an empty one, so that later items keep their
    position; any other list is removed as a whole.
    """
    if path and isinstance(path[-1], int) and path[-2] not in _LISTS:
        path = path[:-1]
    for part in path[:-1]:
        data = data[part]
    if not path:
        data.clear()
    elif isinstance(path[-1], int):
        data[path[-1]] = {}
    else:
        del data[path[-1]]


def _shape_finding(path: DataPath, error: dict[str, Any]) -> Finding:
    where = path_text(path)
    if error["type"] == "extra_forbidden":
        known = _fields(path[:-1])
        near = did_you_mean(str(path[-1]), known)
        return Finding(
            "unknown-key",
            f'unknown key "{where}"',
            path,
            f'did you mean "{near}"?' if near else f"known here: {', '.join(known)}",
        )
    rule = "wrong-type" if str(error["type"]).endswith(("_type", "_parsing")) else "bad-value"
    message = str(error["msg"]).replace("Input should be", "it must be")
    return Finding(rule, f"{where}: {message[:1].lower()}{message[1:]}", path, _fix(path))


def _fix(path: DataPath) -> str | None:
    known = {"gpu": tuple(assessment_facts().gpus), "platform": tuple(platforms())}.get(str(path[-1]) if path else "")
    return f"known: {', '.join(known)}" if known else None


def _fields(path: DataPath) -> tuple[str, ...]:
    model: Any = Answers
    for part in path:
        if isinstance(part, int):
            continue
        annotation = model.model_fields[part].annotation
        arguments = [item for item in getattr(annotation, "__args__", ()) if hasattr(item, "model_fields")]
        model = annotation if hasattr(annotation, "model_fields") else arguments[0] if arguments else None
        if model is None:
            return ()
    return tuple(model.model_fields)


def _located(source: Source, finding: Finding) -> Finding:
    key = finding.rule in ("unknown-key", "missing-key")
    return finding.at(source.file, *source.locate(finding.path, key=key))
