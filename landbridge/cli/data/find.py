"""Search of a dataset in the buckets of the data classes."""

from collections.abc import Callable
from typing import TYPE_CHECKING

import typer

from landbridge.cli.data import common
from landbridge.cli.data.common import DataCommand
from landbridge.findings import Finding

if TYPE_CHECKING:
    from landbridge.aws_api.objects import ObjectBucket
    from landbridge.datasets import DatasetManifest


def find(
    command: DataCommand,
    reference: str,
    data_class: str | None,
    *,
    workers: int | None = None,
    limit: float | None = None,
    progress: Callable[[int], None] | None = None,
) -> "tuple[ObjectBucket, DatasetManifest]":
    """Return a dataset's bucket and manifest. Prints the finding and exits if it is absent or in several classes.

    Raises AwsRefusal and FindingsError.
    """
    from landbridge.datasets import parse_reference
    from landbridge.live.datasets import absent, find_manifest, versions
    from landbridge.plan.aws.storage.dataset_place import hub_buckets

    try:
        name, version = parse_reference(reference)
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint="NAME[:VERSION]") from None
    if data_class is not None:
        command.require_class(data_class)
    classes = [data_class] if data_class is not None else sorted(hub_buckets(command.environment, command.outputs))
    buckets = {name: command.bucket(name, workers=workers, limit=limit, progress=progress) for name in classes}
    by_class = {each: manifest for each in classes if (manifest := find_manifest(buckets[each], name, version))}
    if not by_class:
        known = {listed.name for each in classes for listed in versions(buckets[each])}
        common.refuse([absent(name, version, [f"class {each}" for each in classes], known)])
    if len(by_class) > 1:
        message = f"{reference} is in the classes {', '.join(sorted(by_class))}"
        common.refuse([Finding("dataset-ambiguous", message, fix="give --class")])
    (place, manifest) = next(iter(by_class.items()))
    if manifest.content.data_class != place:
        message = f"{reference} in the bucket of class {place} has a manifest of class {manifest.content.data_class}"
        fix = "its manifest was copied from another bucket: remove it there"
        common.refuse([Finding("dataset-class", message, fix=fix)])
    return buckets[place], manifest
