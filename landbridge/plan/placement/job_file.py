"""Job files: a job in YAML for `landbridge place explain`, with located findings."""

import json
from collections.abc import Iterable, Iterator
from typing import Annotated

from pydantic import Field, ValidationError
from pydantic_core import ErrorDetails

from landbridge.environment import Environment
from landbridge.environment.base import Model, Site, Text, UserName, Word
from landbridge.environment.file.source import Source, read
from landbridge.environment.placement import Gigabytes, WorkloadName
from landbridge.findings import DataPath, Finding, did_you_mean, has_errors, in_order, path_text
from landbridge.plan.placement.destinations import destinations_of
from landbridge.plan.placement.job import DataInput, PlacementJob
from landbridge.plan.slurm.jobs.accounts import NORMAL
from landbridge.plan.slurm.partitions import OPERATORS, partition_names

_TYPES = {
    "string_type": "text",
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "float_type": "a number",
    "bool_type": "true or false",
    "tuple_type": "a list",
    "model_type": "a mapping",
    "model_attributes_type": "a mapping",
}
_BOUNDS = {"ge": "at least", "gt": "more than", "le": "at most", "lt": "less than"}


class JobInput(Model):
    """Data that the job reads, and that is not a data set of the environment."""

    gb: Gigabytes
    site: Site
    data_class: Word | None = None


class JobFile(Model):
    """Content of a job file. The keys are fields of PlacementJob; `data_sets` are names of `placement.data_sets`."""

    account: UserName
    gpus: Annotated[int, Field(ge=1, le=100_000)]
    hours: Annotated[float, Field(gt=0, le=100_000)]
    name: Text | None = None
    partition: Text | None = None
    qos: UserName | None = None
    comment: Text | None = None
    wckey: Text | None = None
    gpu: Word | None = None
    gpu_memory_gib: Annotated[float, Field(ge=0, le=10_000)] = 0.0
    data_sets: tuple[Word, ...] = ()
    inputs: tuple[JobInput, ...] = ()
    output_gb: Gigabytes = 0.0
    deadline_hours: Annotated[float, Field(gt=0, le=100_000)] | None = None
    workload: WorkloadName | None = Field(default=None, alias="class")


def read_job(text: str | bytes, file: str, environment: Environment) -> tuple[PlacementJob | None, tuple[Finding, ...]]:
    """Return the job of a file, or None and all findings with line and column. Never raises."""
    source = read(text, file)
    findings = list(source.findings)
    content: JobFile | None = None
    if source.data is None and not findings:
        findings.append(_located(source, Finding("missing-key", "the file is empty", (), "start with account:")))
    elif source.data is not None:
        try:
            # In strict mode only JSON input permits lists for tuples.
            content = JobFile.model_validate_json(json.dumps(source.data, default=str))
        except ValidationError as error:
            findings += [_located(source, _finding(fault)) for fault in error.errors(include_url=False)]
    if content is not None:
        findings += [_located(source, finding) for finding in _unknown_names(content, environment)]
    ordered = in_order(findings)
    return (None if content is None or has_errors(ordered) else _job(content, environment)), ordered


def _job(content: JobFile, environment: Environment) -> PlacementJob:
    data_sets = environment.placement.data_sets
    inputs = [
        DataInput(data_sets[name].gb, data_sets[name].site, data_sets[name].data_class, name)
        for name in content.data_sets
    ]
    inputs += [DataInput(data.gb, data.site, data.data_class or "") for data in content.inputs]
    return PlacementJob(
        account=content.account,
        gpus=content.gpus,
        hours=content.hours,
        name=content.name or "",
        partition=content.partition or "",
        qos=content.qos or "",
        comment=content.comment or "",
        wckey=content.wckey or "",
        gpu=content.gpu or "",
        gpu_memory_gib=content.gpu_memory_gib,
        inputs=tuple(inputs),
        output_gb=content.output_gb,
        deadline_hours=content.deadline_hours,
        workload=content.workload or "",
    )


def _unknown_names(content: JobFile, environment: Environment) -> Iterator[Finding]:
    accounts = environment.scheduler.accounts
    if accounts:
        yield from _unknown(("account",), content.account, [*accounts, OPERATORS], "account")
    for name in (content.partition or "").replace(",", " ").split():
        yield from _unknown(("partition",), name, partition_names(environment), "partition")
    if content.qos is not None:
        yield from _unknown(("qos",), content.qos, [*environment.scheduler.qos, NORMAL], "QOS")
    if content.gpu is not None:
        models = dict.fromkeys(destination.gpu for destination in destinations_of(environment))
        yield from _unknown(("gpu",), content.gpu, models, "GPU model")
    for index, name in enumerate(content.data_sets):
        yield from _unknown(("data_sets", index), name, environment.placement.data_sets, "data set")
    for index, data in enumerate(content.inputs):
        if data.data_class is not None:
            path: DataPath = ("inputs", index, "data_class")
            yield from _unknown(path, data.data_class, environment.data_classes, "data class")


def _unknown(path: DataPath, name: str, known: Iterable[str], kind: str) -> Iterator[Finding]:
    names = list(known)
    if name not in names:
        near = did_you_mean(name, names)
        fix = f'did you mean "{near}"?' if near else f"known: {', '.join(names)}" if names else f"there is no {kind}"
        yield Finding("unknown-name", f'the environment has no {kind} "{name}"', path, fix)


def _finding(fault: ErrorDetails) -> Finding:
    path: DataPath = tuple(fault["loc"])
    name, kind, context = path_text(path) or "the file", fault["type"], fault.get("ctx", {})
    shown = json.dumps(fault["input"], default=str)[:60]
    if kind == "extra_forbidden":
        fields = [field.alias or key for key, field in JobFile.model_fields.items()]
        fields = [*JobInput.model_fields] if len(path) > 1 else fields
        near = did_you_mean(str(path[-1]), fields)
        fix = f'did you mean "{near}"?' if near else f"known here: {', '.join(fields)}"
        return Finding("unknown-key", f'unknown key "{name}"', path, fix)
    if kind == "missing":
        return Finding("missing-key", f"{name} is missing", path, "add it; it has no default")
    if kind == "literal_error":
        expected = str(context.get("expected", ""))
        choices = [word.strip("' ") for word in expected.replace(" or ", ",").split(",")]
        close = did_you_mean(str(fault["input"]), choices)
        return Finding(
            "unknown-value",
            f"{name}: {shown} is not {expected}",
            path,
            f'did you mean "{close}"?' if close else None,
        )
    if kind in _TYPES:
        return Finding("wrong-type", f"{name} must be {_TYPES[kind]}, not {shown}", path)
    bounds = [f"{bound} {context[key]} is possible" for key, bound in _BOUNDS.items() if key in context]
    if bounds:
        return Finding("out-of-range", f"{name} is {shown}; {bounds[0]}", path)
    message = str(fault["msg"])
    return Finding("wrong-format", f"{name}: {message[:1].lower()}{message[1:]}", path)


def _located(source: Source, finding: Finding) -> Finding:
    key = finding.rule in ("unknown-key", "missing-key")
    return finding.at(source.file, *source.locate(finding.path, key=key))
