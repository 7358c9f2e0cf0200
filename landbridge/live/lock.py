"""Proposed image lock, and its differences from the present file."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from typing import Any, Literal

from landbridge.aws_api.client import AwsClient
from landbridge.environment import Environment, ImageLock, LockedImage
from landbridge.findings import DataPath, Finding, Severity
from landbridge.live.images import DescribedImage, NamedImage, image, newest, parameters
from landbridge.plan.aws.images import SOURCE, copy_regions, image_sources, name_in_region

#: Fields that an operator reviews when an image changes, in this order.
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
        """Return plain data for `--format json`."""
        parts = {field: {"from": before, "to": after} for field, before, after in self.parts}
        return {"name": self.name, "kind": self.kind, "changes": parts}


@dataclass(frozen=True, slots=True)
class Proposal:
    """Proposed lock, its changes, and names that could not be resolved."""

    lock: ImageLock
    changes: tuple[Change, ...]
    findings: tuple[Finding, ...]

    @property
    def different(self) -> bool:
        """Return true if the file would change."""
        return any(change.kind != "kept" for change in self.changes)


def propose(
    environment: Environment, lock: ImageLock | None, aws: AwsClient, today: date, *, upgrade: bool = False
) -> Proposal:
    """Return the proposed lock. Without `upgrade`, an image is kept while its parameter and region are the same.

    Raises AwsRefusal.
    """
    before = dict(lock.images) if lock is not None else {}
    sources = image_sources(environment)
    builds = {name: source.build for name, source in environment.aws.images.items() if source.build is not None}
    copies = {
        name_in_region(name, region): (name, region) for name in builds for region in copy_regions(environment, name)
    }
    known = {**dict.fromkeys(builds), **sources, **dict.fromkeys(copies)}
    regions = {name: region for name, (_, region) in copies.items()}
    stale = [
        name
        for name in known
        if upgrade or not _still(before.get(name), known[name], regions.get(name, environment.region))
    ]
    named, missing = parameters(aws, [sources[name] for name in stale if name in sources])
    after = {name: before[name] for name in known if name not in stale}
    findings = []
    for name in [name for name in stale if name in builds or name in copies]:
        image_name, region = copies.get(name, (name, environment.region))
        built = newest(aws.at(region), environment.name, image_name)
        if built is None:
            where = f" in {region}" if name in copies else ""
            message = f"{image_name} has not been built yet{where}"
            build = f"landbridge image build {image_name} -s {environment.name}"
            fix = f"{build}, and repeat this command when the image is ready"
            path: DataPath = ("aws", "images", image_name, "build")
            findings.append(Finding("live-image-built", message, path, fix, Severity.WARNING))
            continue
        locked = _locked(built, None, None, region, today)
        after[name] = before[name] if name in before and _same(before[name], locked) else locked
    for name in [name for name in stale if name in sources]:
        path = ("aws", "images", name, "parameter")
        if sources[name] in missing:
            message = f"{environment.region} has no image under the parameter {sources[name]}"
            fix = "aws ssm get-parameters-by-path --recursive --path /aws/service/... lists them; `latest` is part of most"
            findings.append(Finding("live-image-parameter", message, path, fix))
            continue
        described = image(aws, named[sources[name]].ami)
        if described is None:
            message = f"{sources[name]} names {named[sources[name]].ami}, which this account cannot use"
            findings.append(Finding("live-image-parameter", message, path))
        elif described.architecture not in ("x86_64", "arm64"):
            message = f"{described.ami} is built for {described.architecture}, which no pool runs"
            findings.append(Finding("live-image-parameter", message, path))
        else:
            after[name] = _locked(described, named[sources[name]], sources[name], environment.region, today)
            if name in before and _same(before[name], after[name]):
                after[name] = before[name]  # a new date alone is not a difference
    for name in stale:
        if name not in after and name in before:
            after[name] = before[name]
    changes = tuple(_change(name, before.get(name), after.get(name)) for name in sorted({*before, *after}))
    return Proposal(ImageLock({name: after[name] for name in sorted(after)}), changes, tuple(findings))


def _still(known: LockedImage | None, parameter: str | None, region: str) -> bool:
    return known is not None and known.parameter == parameter and known.region == region


def _locked(
    described: DescribedImage, named: NamedImage | None, parameter: str | None, region: str, today: date
) -> LockedImage:
    return LockedImage(
        ami=described.ami,
        parameter=parameter,
        source=described.tags.get(SOURCE) if parameter is None else None,
        version=named.version if named is not None else None,
        region=region,
        architecture="arm64" if described.architecture == "arm64" else "x86_64",
        root_device=described.root_device,
        root_gib=described.root_gib,
        name=described.name or None,
        created=described.created,
        deprecated=described.deprecated,
        driver=described.driver,
        cuda=described.cuda,
        efa=described.efa,
        resolved=today,
    )


def _same(first: LockedImage, other: LockedImage) -> bool:
    return first.model_copy(update={"resolved": other.resolved}) == other


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
