"""Environment files: search for them, and load them with the position of each finding."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from landbridge.environment.file.lock import ImageLock, lock_path, read_lock
from landbridge.environment.file.source import Source, read
from landbridge.environment.file.validate import ValidationOutcome, validate
from landbridge.environment.model import Environment
from landbridge.findings import DataPath, Finding, FindingsError, did_you_mean, has_errors, in_order

ROOT: DataPath = ("config", "landbridge:environment")
KEY = "landbridge:environment"
#: A timestamp that has no quotes in the stack file, as Pulumi's engine prints it: Go's Time.String.
#: Source: Go, package time, Time.String; found with Pulumi 3.259.
_PRINTED = re.compile(r"(\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d(?:\.\d+)?) ([+-]\d\d)(\d\d) \S+")
_TOP = ("config", "secretsprovider", "encryptedkey", "encryptionsalt", "environment")


@dataclass(frozen=True, slots=True)
class Loaded:
    """Loaded environment file: its environment, its findings and the positions of its values.

    `environment` is None if there is an error. `partial` is the environment with invalid values repaired, so that rules
    run; `reliable` is false for findings about repaired paths. `secure_keys` are the file's encrypted keys. `lock` is
    the image lock beside the file, if it exists.
    """

    path: Path
    environment: Environment | None
    partial: Environment | None
    findings: tuple[Finding, ...]
    secure_keys: frozenset[str]
    source: Source
    outcome: ValidationOutcome
    lock: ImageLock | None = None

    def locate(self, path: DataPath) -> tuple[int, int]:
        """Return line and column of a path in the environment, or of its nearest ancestor in the file."""
        return self.source.locate((*ROOT, *path))

    def reliable(self, finding: Finding) -> bool:
        """Return false if the finding concerns a value that was repaired, so that it differs from the file."""
        # A rule over a whole section did not see the values that were repaired in it.
        related = (self.outcome.original(path) for path in finding.related)
        original_path = self.outcome.original(finding.path)
        return not (self.outcome.is_tainted(original_path) or any(self.outcome.touches(path) for path in related))

    def place(self, finding: Finding) -> Finding:
        """Return a rule's finding with paths and positions of the file."""
        path = self.outcome.original(finding.path)
        located = self.source.locate(_in_file(path))
        # A finding about every item of a list is placed at the list.
        others = (other[: other.index("*")] if "*" in other else other for other in finding.related)
        related = tuple(dict.fromkeys(self.outcome.original(other) for other in others))
        moved = Finding(finding.rule, finding.message, path, finding.fix, finding.severity, related)
        return moved.at(str(self.path), *located)


def find_environment(name: str, root: Path | None = None) -> Path:
    """Return `stacks/Pulumi.<name>.yaml` beside the nearest Pulumi.yaml at or above `root` (default: working folder).

    Raises FindingsError with one finding if there is none.
    """
    start = (root or Path.cwd()).resolve()
    project = next((folder for folder in (start, *start.parents) if (folder / "Pulumi.yaml").is_file()), None)
    if project is None:
        # A checkout without Pulumi.yaml is valid if it has the folder stacks.
        project = next((folder for folder in (start, *start.parents) if (folder / "stacks").is_dir()), None)
    if project is None:
        message = f"there is neither a Pulumi.yaml nor a folder stacks in {start} or above it"
        raise FindingsError([Finding("no-project", message, fix="change into a Landbridge checkout, or give --file")])
    path = project / "stacks" / f"Pulumi.{name}.yaml"
    if path.is_file():
        return path
    names = sorted(file.name[len("Pulumi.") : -len(".yaml")] for file in path.parent.glob("Pulumi.*.yaml"))
    near = did_you_mean(name, names)
    fix = f'did you mean "{near}"?' if near else f"known: {', '.join(names)}" if names else f"write {path}"
    raise FindingsError([Finding("no-environment", f'there is no environment "{name}" in {path.parent}', fix=fix)])


def load_environment(path: Path) -> Loaded:
    """Load an environment file. Content never raises; an unreadable file is a finding too."""
    path = Path(path)
    try:
        text = path.read_bytes()
    except OSError as error:
        source = Source(str(path))
        source.report("unreadable-file", f"cannot read it: {error.strerror or error}", (), (1, 1))
        return Loaded(path, None, None, tuple(source.findings), frozenset(), source, ValidationOutcome())
    loaded = load_text(text, path)
    region = loaded.partial.region if loaded.partial is not None else None
    lock, broken = read_lock(lock_path(path), region)
    if not broken:
        return replace(loaded, lock=lock)
    return replace(loaded, environment=None, findings=in_order([*loaded.findings, *broken]))


def load_text(text: str | bytes, path: Path) -> Loaded:
    """Load an environment from text; `path` gives its name and is not read."""
    source = read(text, str(path))
    findings = list(source.findings)
    outcome, secure = ValidationOutcome(), frozenset[str]()
    if source.data is None:
        if not findings:
            findings.append(_located(source, Finding("missing-key", "the file is empty", (), "start with config:")))
    else:
        body, region, secure, file_findings = _unwrap(source.data)
        findings += [_located(source, finding) for finding in file_findings]
        if body is not None:
            outcome = validate({**body, "name": _name(path), "region": region or "us-east-1"})
            if region is None:
                outcome.tainted.add(("region",))
            findings += [
                _located(source, finding, ROOT, key=finding.rule in ("unknown-key", "missing-key"))
                for finding in outcome.findings
            ]
    ordered = in_order(findings)
    environment = None if has_errors(ordered) else outcome.environment
    return Loaded(path, environment, outcome.environment, ordered, secure, source, outcome)


def environment_from_config(name: str, region: str, raw: Mapping[str, Any]) -> Environment:
    """Return the environment of a stack's configuration as Pulumi passes it. Raises FindingsError with all findings."""
    outcome = validate({**_with_iso_timestamps(raw), "name": name, "region": region})
    if outcome.findings or outcome.environment is None:
        raise FindingsError(in_order(outcome.findings))
    return outcome.environment


def _with_iso_timestamps(value: Any) -> Any:
    """Return the same data with timestamps as written in the file."""
    if isinstance(value, Mapping):
        return {key: _with_iso_timestamps(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_with_iso_timestamps(item) for item in value]
    match = _PRINTED.fullmatch(value) if isinstance(value, str) else None
    return value if match is None else f"{match[1]}T{match[2]}{match[3]}:{match[4]}"


def _unwrap(data: Any) -> tuple[dict[str, Any] | None, str | None, frozenset[str], list[Finding]]:
    """Return the environment's data, its region, the names of secure keys, and findings about the other keys."""
    findings: list[Finding] = []
    if not isinstance(data, dict):
        return None, None, frozenset(), [Finding("wrong-type", "the file must be a mapping that starts with config:")]
    for key in data:
        if key not in _TOP:
            near = did_you_mean(key, _TOP)
            fix = f'did you mean "{near}"?' if near else f"known here: {', '.join(_TOP)}"
            findings.append(Finding("unknown-key", f'unknown key "{key}" in a stack\'s file', (key,), fix))
    config = data.get("config")
    if not isinstance(config, dict):
        rule = "wrong-type" if "config" in data else "missing-key"
        return None, None, frozenset(), [*findings, Finding(rule, "config must be a mapping", ("config",))]
    secure = frozenset(k for k, v in config.items() if isinstance(v, dict) and "secure" in v)
    region = config.get("aws:region")
    if not isinstance(region, str):
        rule = "wrong-type" if "aws:region" in config else "missing-key"
        findings.append(Finding(rule, "aws:region must name a region", ("config", "aws:region"), "such as us-east-1"))
        region = None
    body = config.get(KEY)
    if body is None:
        near = did_you_mean(KEY, [k for k in config if k not in secure])
        fix = (
            f'did you mean "{near}"?'
            if near
            else f"add {KEY}: with at least owner, aws, and either onprem and link or aws.services"
        )
        findings.append(Finding("missing-key", f"{KEY} is missing", ("config", KEY), fix))
    elif not isinstance(body, dict):
        findings.append(Finding("wrong-type", f"{KEY} must be a mapping", ("config", KEY)))
    for key in ("name", "region"):
        if isinstance(body, dict) and key in body:
            source = "the file's name" if key == "name" else "aws:region"
            findings.append(Finding("unknown-key", f'"{key}" comes from {source}', (*ROOT, key), "remove it"))
    return (body if isinstance(body, dict) else None), region, secure, findings


def _name(path: Path) -> str:
    name = path.name
    return name[len("Pulumi.") : -len(".yaml")] if name.startswith("Pulumi.") and name.endswith(".yaml") else path.stem


def _in_file(path: DataPath) -> DataPath:
    return ("config", "aws:region") if path == ("region",) else (*ROOT, *path)


def _located(source: Source, finding: Finding, root: DataPath = (), *, key: bool = False) -> Finding:
    path = _in_file(finding.path) if root else finding.path
    return finding.at(source.file, *source.locate(path, key=key))
