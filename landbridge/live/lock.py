"""Image lock: the proposed content, and its differences from the present file."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from typing import Any, Literal

from landbridge.aws_api.client import AwsClient
from landbridge.environment import Environment, ImageLock, LockedImage
from landbridge.findings import Finding, Severity
from landbridge.live.images import DescribedImage, NamedImage, image, newest, parameters
from landbridge.plan.aws.images import SOURCE, image_sources

#: What a person reviews when an image changes, in this order.
SHOWN = (
    "ami",
    "version",
    "name",
    "driver",
    "cuda",
    "efa",
    "architecture",
    "root_device",
    "root_gib",
    "parameter",
    "source",
)
NEEDS = ("ssm:GetParameters", "ec2:DescribeImages")


@dataclass(frozen=True, slots=True)
class Change:
    """Change of one image name. `parts` are (field, before, after) of each difference."""

    name: str
    kind: Literal["added", "removed", "changed", "kept"]
    parts: tuple[tuple[str, str | None, str | None], ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """As plain data, for `--format json`."""
        parts = {what: {"from": before, "to": after} for what, before, after in self.parts}
        return {"name": self.name, "kind": self.kind, "changes": parts}


@dataclass(frozen=True, slots=True)
class Proposal:
    """Proposed lock, its changes, and names that could not be resolved."""

    lock: ImageLock
    changes: tuple[Change, ...]
    findings: tuple[Finding, ...]

    @property
    def different(self) -> bool:
        """Return true when the file would change."""
        return any(change.kind != "kept" for change in self.changes)


def propose(
    environment: Environment, lock: ImageLock | None, aws: AwsClient, today: date, *, upgrade: bool = False
) -> Proposal:
    """Return the proposed lock. Without `upgrade` an image stays while its parameter's name does. Raises AwsRefusal."""
    before = dict(lock.images) if lock is not None else {}
    sources = image_sources(environment)
    builds = {name: source.build for name, source in environment.aws.images.items() if source.build is not None}
    known = {**dict.fromkeys(builds), **sources}
    stale = [name for name in known if upgrade or not _still(before.get(name), known[name], environment.region)]
    named, missing = parameters(aws, [sources[name] for name in stale if name in sources])
    after = {name: before[name] for name in known if name not in stale}
    findings = []
    for name in [name for name in stale if name in builds]:
        built = newest(aws, environment.name, name)
        if built is None:
            yet = f"{name} has not been built yet"
            fix = f"landbridge image build {name} -s {environment.name}, and this again when it is ready"
            findings.append(Finding("live-image-built", yet, ("aws", "images", name, "build"), fix, Severity.WARNING))
            continue
        made = _locked(built, None, None, environment.region, today)
        after[name] = before[name] if name in before and _same(before[name], made) else made
    for name in [name for name in stale if name in sources]:
        path = ("aws", "images", name, "parameter")
        if sources[name] in missing:
            message = f"{environment.region} has no image under the parameter {sources[name]}"
            fix = "aws ssm get-parameters-by-path --recursive --path /aws/service/... lists them; `latest` is part of most"
            findings.append(Finding("live-image-parameter", message, path, fix))
            continue
        found = image(aws, named[sources[name]].ami)
        if found is None:
            message = f"{sources[name]} names {named[sources[name]].ami}, which this account cannot use"
            findings.append(Finding("live-image-parameter", message, path))
        elif found.architecture not in ("x86_64", "arm64"):
            message = f"{found.ami} is built for {found.architecture}, which no pool runs"
            findings.append(Finding("live-image-parameter", message, path))
        else:
            after[name] = _locked(found, named[sources[name]], sources[name], environment.region, today)
            if name in before and _same(before[name], after[name]):
                after[name] = before[name]  # the day alone is no difference
    for name in stale:
        if name not in after and name in before:
            after[name] = before[name]
    changes = tuple(_change(name, before.get(name), after.get(name)) for name in sorted({*before, *after}))
    return Proposal(ImageLock({name: after[name] for name in sorted(after)}), changes, tuple(findings))


def _still(known: LockedImage | None, parameter: str | None, region: str) -> bool:
    return known is not None and known.parameter == parameter and known.region == region


def _locked(
    found: DescribedImage, named: NamedImage | None, parameter: str | None, region: str, today: date
) -> LockedImage:
    return LockedImage(
        ami=found.ami,
        parameter=parameter,
        source=found.tags.get(SOURCE) if parameter is None else None,
        version=named.version if named is not None else None,
        region=region,
        architecture="arm64" if found.architecture == "arm64" else "x86_64",
        root_device=found.root_device,
        root_gib=found.root_gib,
        name=found.name or None,
        created=found.created,
        deprecated=found.deprecated,
        driver=found.driver,
        cuda=found.cuda,
        efa=found.efa,
        resolved=today,
    )


def _same(one: LockedImage, other: LockedImage) -> bool:
    return one.model_copy(update={"resolved": other.resolved}) == other


def _change(name: str, before: LockedImage | None, after: LockedImage | None) -> Change:
    old, new = _shown(before), _shown(after)
    parts = tuple((key, old.get(key), new.get(key)) for key in SHOWN if old.get(key) != new.get(key))
    if before is None:
        return Change(name, "added", parts)
    if after is None:
        return Change(name, "removed", parts)
    return Change(name, "changed" if before != after else "kept", parts)


def _shown(locked: LockedImage | None) -> Mapping[str, str]:
    if locked is None:
        return {}
    return {key: str(value) for key in SHOWN if (value := getattr(locked, key)) is not None}
