"""Mover: it reads the requests of the burst controller, copies data, and reports. It may be killed at any point.

Nothing but the bucket, the folder and the requests decides what is copied: a repeated run continues from them.
"""

import json
import os
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from math import inf
from pathlib import Path

from landbridge.aws_api.objects import ObjectBucket
from landbridge.aws_api.refusal import AwsRefusal
from landbridge.datasets import DATASET_FILE, DatasetManifest, files_prefix, parse_reference
from landbridge.findings import FindingsError
from landbridge.live.datasets import ContentStore, bytes_to_read, find_manifest, stage
from landbridge.live.staging.class_buckets import ClassBuckets
from landbridge.live.staging.cloud_files import (
    COPIES,
    absent_files,
    description_of,
    is_checked,
    note_use,
    write_cloud_files,
)
from landbridge.live.staging.config import MoverClass, MoverConfig
from landbridge.staging.exchange import read_requests, write_reports
from landbridge.staging.places import DataReport, DatasetPlace

#: Commands in the ledger.
TO_AWS, TO_SITE = "place", "stage"
#: Seconds between two reports of a transfer that runs.
REPORT_SECONDS = 5.0
#: Seconds until a place is tried again that could not be copied because of its content.
RETRY_SECONDS = 600.0
#: Seconds for which a manifest is not read again. Landbridge's choice.
MANIFEST_SECONDS = 600.0


class Mover:
    """Mover of one site."""

    def __init__(
        self,
        config: MoverConfig,
        log: Callable[[str], None],
        buckets: ClassBuckets | None = None,
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._config, self._log, self._clock = config, log, clock
        self._buckets = buckets or ClassBuckets(config)
        self._manifests: dict[tuple[str, str], tuple[float, DatasetManifest]] = {}
        self._asked: dict[DatasetPlace, float] = {}
        self._failed: dict[DatasetPlace, tuple[float, str]] = {}
        self._reports: dict[DatasetPlace, DataReport] = {}
        self._reported_at = 0.0
        self._inspected: float | None = None

    def cycle(self) -> bool:
        """Report every requested place, and copy the first one that is absent; return true if one was copied."""
        requests = read_requests(self._config.exchange) or {}
        self._inspected = time.time()
        self._reports = {place: self._inspect(place) for place in requests}
        self._write()
        for place, copy in requests.items():
            if copy and self._reports[place].state == "absent" and not self._reports[place].text:
                return self._move(place)
        return False

    def _move(self, place: DatasetPlace) -> bool:
        self._log(f"{place.dataset}: copy to {place.site}")
        before = self._reports[place]
        left = before.left

        def advance(count: int) -> None:
            nonlocal left
            left = max(0, left - count)
            if time.monotonic() - self._reported_at >= REPORT_SECONDS:
                seconds = before.seconds * left / before.left if before.seconds is not None and before.left else None
                self._reports[place] = replace(before, state="moving", left=left, seconds=seconds)
                self._write()

        self._reports[place] = replace(before, state="moving")
        self._write()
        try:
            self._copy(place, advance)
        except FindingsError as error:
            self._failed[place] = (time.monotonic() + RETRY_SECONDS, "; ".join(f.message for f in error.findings))
        except (AwsRefusal, OSError) as error:
            self._log(f"{place.dataset}: {error}")
            self._reports[place] = replace(before, text=str(error))
            self._write()
            return False
        self._reports[place] = self._inspect(place)
        self._write()
        self._log(f"{place.dataset} at {place.site}: {self._reports[place].state} {self._reports[place].text}".rstrip())
        return True

    def _copy(self, place: DatasetPlace, advance: Callable[[int], None]) -> None:
        self._buckets.require_role()
        to_aws = place.site == "aws"
        bucket = self._buckets.bucket(place.data_class, None if to_aws else advance)
        manifest = self._manifest(place, bucket)
        if manifest is None:
            return
        command = TO_AWS if to_aws else TO_SITE
        facts = {"command": command, "dataset": place.dataset, "data_class": place.data_class, "user": "mover"}
        transfer = self._buckets.ledger.begin({**facts, "usd": self._reports[place].usd})
        began = time.monotonic()
        if to_aws:
            store = self._store(place)
            store.prepare()
            with store.lock(COPIES):
                files = write_cloud_files(bucket, manifest, advance)
            moved = {"bytes": files.size, "read_bytes": files.read_bytes(manifest), "files": files.files}
        else:
            staged = stage(bucket, manifest, self._folder(place), self._store(place))
            moved = {"bytes": manifest.content.size, "read_bytes": staged.read_bytes, "links": staged.links}
        self._buckets.ledger.end(
            transfer, {**moved, "seconds": round(time.monotonic() - began, 3), "calls": dict(bucket.calls)}
        )

    def _inspect(self, place: DatasetPlace) -> DataReport:
        """Return the report about a place, from the objects in the bucket or the files in the folder."""
        known = self._config.classes.get(place.data_class)
        if known is None:
            return DataReport("refused", text=f"no data class {place.data_class or '(none)'} is known to the mover")
        if place.site not in known.sites:
            words = "in AWS" if place.site == "aws" else "at the site"
            return DataReport("refused", text=f"data of class {place.data_class} may not be {words}")
        failed = self._failed.get(place)
        if failed is not None and time.monotonic() < failed[0]:
            return DataReport("refused", text=failed[1])
        try:
            return self._at_site(place, known) if place.site == "onprem" else self._in_aws(place, known)
        except FindingsError as error:
            return DataReport("refused", text="; ".join(finding.message for finding in error.findings))
        except ValueError as error:
            return DataReport("refused", text=str(error))  # no name of a dataset
        except (AwsRefusal, OSError) as error:
            return DataReport("absent", text=str(error))

    def _at_site(self, place: DatasetPlace, known: MoverClass) -> DataReport:
        name, version = parse_reference(place.dataset)
        folder, path = self._folder(place), f"{self._config.mount}/{place.data_class}/{name}/{version}"
        if known.bucket is None:
            # Data that may not be in AWS have no manifest: the site's own programs put the folder there.
            return (
                DataReport("present", path=path)
                if folder.is_dir()
                else DataReport("refused", text=f"{folder} does not exist, and its class has no bucket")
            )
        digest = _described(folder, name, version or "")
        if digest is not None:
            if self._known_digest(place) not in (None, digest):
                text = f"{path} has other files than {place.dataset} in the bucket: it was deleted and put again; remove the folder"
                return DataReport("refused", text=text)
            self._note_use(lambda: os.utime(folder))
            return DataReport("present", path=path)
        bucket = self._buckets.bucket(place.data_class)
        manifest = self._manifest(place, bucket)
        if manifest is None:
            return self._unknown(place)
        objects, size = bytes_to_read(manifest, self._store(place))
        usd = self._buckets.usd(reads=objects + 1, writes=0, bytes_out=size)
        return DataReport("absent", manifest.content.size, size, self._buckets.seconds(TO_SITE, size), usd, path)

    def _in_aws(self, place: DatasetPlace, known: MoverClass) -> DataReport:
        if known.bucket is None:
            return DataReport("refused", text=f"the stack has no bucket of class {place.data_class}")
        bucket = self._buckets.bucket(place.data_class)
        manifest = self._manifest(place, bucket)
        if manifest is None:
            return self._unknown(place)
        prefix = files_prefix(manifest.content.name, manifest.version).rstrip("/")
        path = f"s3://{known.bucket}/{prefix}" if known.mount is None else f"{known.mount.rstrip('/')}/{prefix}"
        size = manifest.content.size
        description = description_of(bucket, manifest)
        if description is not None and is_checked(description, self._clock()):
            return DataReport("present", size, 0, 0.0, 0.0, path)
        absent = absent_files(bucket, manifest, description)
        if description is not None and not absent.files:
            self._note_use(lambda: note_use(bucket, manifest))
            return DataReport("present", size, 0, 0.0, 0.0, path)
        if description is not None:
            self._log(f"{place.dataset} in AWS: {absent.files} files are absent, archived or changed")
        blocks = len(manifest.content.unique_blocks)
        usd = self._buckets.usd(
            reads=2 * blocks, writes=absent.files + 2 * blocks, bytes_out=absent.read_bytes(manifest)
        )
        return DataReport("absent", size, absent.size, self._buckets.seconds(TO_AWS, absent.size), usd, path)

    def _note_use(self, write: Callable[[], None]) -> None:
        """Note that a copy is in use; `landbridge data gc` deletes those that are not. A failure has no consequence."""
        try:
            write()
        except (AwsRefusal, OSError) as error:
            self._log(str(error))

    def _unknown(self, place: DatasetPlace) -> DataReport:
        return DataReport("refused", text=f"no dataset {place.dataset} is in the bucket of class {place.data_class}")

    def _manifest(self, place: DatasetPlace, bucket: ObjectBucket) -> DatasetManifest | None:
        """Return a version's manifest, read again after a while: a version may be deleted and put again. Raises AwsRefusal and FindingsError."""
        key = (place.data_class, place.dataset)
        known = self._manifests.get(key)
        if known is None or time.monotonic() - known[0] >= MANIFEST_SECONDS:
            name, version = parse_reference(place.dataset)
            manifest = find_manifest(bucket, name, version)
            if manifest is None:
                return None
            known = self._manifests[key] = (time.monotonic(), manifest)
        return known[1]

    def _known_digest(self, place: DatasetPlace) -> str | None:
        """Return the digest of a version, asked for once in a while; None if it is not known: without the link the site's copy goes on."""
        if time.monotonic() - self._asked.get(place, -inf) >= MANIFEST_SECONDS:
            self._asked[place] = time.monotonic()
            try:
                self._manifest(place, self._buckets.bucket(place.data_class))
            except (AwsRefusal, FindingsError, OSError) as error:
                self._log(f"{place.dataset}: {error}")
        known = self._manifests.get((place.data_class, place.dataset))
        return known[1].content.digest if known is not None else None

    def _folder(self, place: DatasetPlace) -> Path:
        name, version = parse_reference(place.dataset)
        return self._config.folder / place.data_class / name / (version or "")

    def _store(self, place: DatasetPlace) -> ContentStore:
        return ContentStore(self._config.folder / place.data_class / ".store")

    def _write(self) -> None:
        """Write the reports; a folder that does not answer is tried again with the next report."""
        self._reported_at = time.monotonic()
        try:
            write_reports(self._config.exchange, self._reports, inspected=self._inspected)
        except OSError as error:
            self._log(f"{self._config.exchange}: {error.strerror or error}")


def _described(folder: Path, name: str, version: str) -> str | None:
    """Return the digest of a folder's files; None if it is not this version. It appears complete, by rename."""
    try:
        described: Mapping[str, object] = json.loads((folder / DATASET_FILE).read_text())
        return str(described["digest"]) if (described["name"], described["version"]) == (name, version) else None
    except (OSError, ValueError, KeyError, TypeError):
        return None
