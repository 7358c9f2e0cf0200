"""Objects of a place that all sites reach: `s3://BUCKET/PREFIX`, or `file:///FOLDER` of a shared file system."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol


class Unreachable(Exception):
    """Failed request of a place; a later one may succeed."""


@dataclass(frozen=True)
class ListedObject:
    """Object of a listing: key below the prefix, and time of its write by the clock of the place."""

    key: str
    modified: datetime


class Objects(Protocol):
    """Objects below a URL. Every method raises Unreachable."""

    url: str

    def get(self, key: str) -> tuple[bytes, str] | None:
        """Return the bytes and the ETag of an object; None without one."""

    def put(self, key: str, body: bytes, *, if_absent: bool = False, if_etag: str | None = None) -> str | None:
        """Write an object and return its ETag; None if its condition does not hold."""

    def list(self, folder: str) -> Iterator[ListedObject]:
        """Yield the objects below a folder."""

    def delete(self, keys: Sequence[str]) -> None:
        """Delete objects."""


def objects(url: str, workers: int, limit_mbit: float | None = None) -> Objects:
    """Return the objects of a URL. Raises ValueError for another form. boto3 is imported only for a bucket."""
    if url.startswith("file:"):
        from landbridge_checkpoints.shared_folder import SharedFolder

        return SharedFolder(url, limit_mbit)
    from landbridge_checkpoints.bucket import BucketPrefix

    return BucketPrefix(url, workers, limit_mbit)
