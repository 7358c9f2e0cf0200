"""Collection of garbage: objects that no manifest names, such as objects of interrupted uploads."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from landbridge.aws_api.objects import ObjectBucket, ObjectFacts
from landbridge.catalog.aws.datasets import DatasetFacts
from landbridge.datasets import OBJECTS, object_key
from landbridge.findings import Finding, FindingsError
from landbridge.live.datasets.listing import manifests
from landbridge.live.datasets.markers import DeletionMarker, running_uploads

#: Objects of one DeleteObjects call. Source: Amazon S3 API Reference, DeleteObjects.
_BATCH = 1000


@dataclass(frozen=True, slots=True)
class Collection:
    """Result: objects that were deleted, and the reasons by key for those that S3 refused to delete."""

    deleted: tuple[ObjectFacts, ...]
    refused: dict[str, str]


def unreferenced(bucket: ObjectBucket, now: datetime, grace: timedelta) -> list[ObjectFacts]:
    """Return the objects that no manifest names and that are older than `grace`. Raises AwsRefusal and FindingsError.

    The manifests are read before the objects: an object of a manifest that is written meanwhile is younger, or its
    upload has a marker.
    """
    named = {object_key(sha256) for manifest in manifests(bucket) for sha256 in manifest.content.unique_blocks}
    return [
        facts_of_object
        for facts_of_object in bucket.list(OBJECTS)
        if facts_of_object.key not in named and now - facts_of_object.modified >= grace
    ]


def collect(bucket: ObjectBucket, facts: DatasetFacts, grace: timedelta) -> Collection:
    """Delete the objects that no manifest names. Raises AwsRefusal and FindingsError, also while an upload is running."""
    with DeletionMarker(bucket, facts) as marker:
        now = marker.now()
        running = sorted({name for name, _ in running_uploads(bucket, now, facts.put_silence)})
        if running:
            message = f"uploads of {', '.join(running)} are running, or were interrupted within {facts.put_silence}"
            fix = "repeat it when they have ended; an interrupted upload that is repeated ends its own marker only"
            raise FindingsError([Finding("dataset-put-running", message, fix=fix)])
        garbage = unreferenced(bucket, now, grace)
        refused: dict[str, str] = {}
        for first in range(0, len(garbage), _BATCH):
            marker.require()
            refused |= bucket.delete([facts_of_object.key for facts_of_object in garbage[first : first + _BATCH]])
    return Collection(
        tuple(facts_of_object for facts_of_object in garbage if facts_of_object.key not in refused), refused
    )
