"""Copies of a run's checkpoints in a bucket.

    RUN/latest.json                    the writer and the newest checkpoint
    RUN/manifests/NAME.json            written after the blocks: a checkpoint without it does not exist
    RUN/blocks/NAME/FILE-BLOCK         blocks of the files by their numbers; RANK-FILE-BLOCK of a checkpoint with ranks
    RUN/sending.json                   checkpoint with ranks that the first rank sends: the others send theirs of the same
    RUN/damaged/NAME                   reason why a checkpoint with ranks could not be restored: a later start passes it over
    RUN/parts/NAME/RANK.json           files of one rank, written after their blocks; the manifest follows the last of them

NAME contains the step, the generation and the writer, so that two processes never write the same key.
"""

import hashlib
import json
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial

from landbridge_checkpoints.folders import CheckpointFolder, ReadBlock
from landbridge_checkpoints.latest import LatestPointer
from landbridge_checkpoints.manifest import Damaged, Manifest, is_checkpoint_name, order, read_manifest
from landbridge_checkpoints.objects import Objects, Unreachable
from landbridge_checkpoints.threads import run_all

MIB = 1 << 20
#: Blocks without a manifest are removed after this time: their writer has ended.
ABANDONED = timedelta(days=1)
_PROGRESS_SECONDS = 30.0


class UploadedCheckpoints:
    """Checkpoints of one run in a bucket, written by one process."""

    def __init__(
        self, bucket: Objects, run: str, latest: LatestPointer, workers: int, say: Callable[[str], None]
    ) -> None:
        self._bucket, self._run, self._workers, self._say = bucket, run, workers, say
        self.latest = latest
        self._sent: set[str] = set()
        self._may_delete = True

    def names(self) -> list[str]:
        """Return the names of the complete checkpoints, newest first. Raises Unreachable."""
        start, end = f"{self._run}/manifests/", ".json"
        listed = (entry.key for entry in self._bucket.list(start))
        names = (key.removeprefix(start).removesuffix(end) for key in listed if key.endswith(end))
        return sorted((name for name in names if is_checkpoint_name(name)), key=order, reverse=True)

    def manifest(self, name: str) -> Manifest:
        """Return the manifest of a checkpoint. Raises Damaged, Unreachable."""
        stored = self._bucket.get(self._manifest_key(name))
        if stored is None:
            raise Damaged(f"{name}: its manifest is not in {self._bucket.url}")
        return read_manifest(stored[0], self._run, name)

    def reader(self, manifest: Manifest) -> ReadBlock:
        """Return a function that reads a block of a checkpoint. It raises Damaged, Unreachable."""

        def read(index: int, block: int) -> bytes:
            rank, number = manifest.part(index)
            key = self._block_key(manifest.name, number, block, rank)
            stored = self._bucket.get(key)
            if stored is None:
                raise Damaged(f"{manifest.name}: {key} is not in {self._bucket.url}")
            return stored[0]

        return read

    def send(self, folder: CheckpointFolder, name: str) -> None:
        """Upload a checkpoint of a folder: blocks, then the manifest, then the pointer.

        Raises Superseded, Damaged, Unreachable. A repetition sends only the blocks that are missing.
        """
        if self.latest.claimed is None:
            self.latest.claim(starts=False)
        self.latest.check()
        manifest = folder.manifest(name)
        body = manifest.to_bytes()
        if self._bucket.get(self._manifest_key(name)) is None:
            self._send_blocks(folder, manifest)
            # Blocks of another process are not affected by this one, and its claim refuses the pointer.
            self.latest.check()
            # A refusal means that an earlier attempt has written it: another process has other names.
            self._bucket.put(self._manifest_key(name), body, if_absent=True)
            self._say(f"checkpoint {name} is in {self._bucket.url}/{self._run}")
        if not self.latest.advance(name, hashlib.sha256(body).hexdigest()):
            self._say(f"latest.json has a greater step than {name} and is not changed")

    def send_part(self, folder: CheckpointFolder, name: str, rank: int) -> None:
        """Upload the files of one rank: blocks, then its part. Raises Superseded, Damaged, Unreachable."""
        self.latest.check()
        if self._bucket.get(self._part_key(name, rank)) is None:
            manifest = folder.manifest(name)
            self._send_blocks(folder, manifest, rank)
            self.latest.check()
            self._bucket.put(self._part_key(name, rank), manifest.to_bytes(), if_absent=True)

    def choose(self, name: str) -> None:
        """Send the other ranks the name of the checkpoint that is uploaded. Raises Superseded, Unreachable."""
        self.latest.check()
        self._bucket.put(f"{self._run}/sending.json", json.dumps({"name": name}).encode())

    def chosen(self) -> str | None:
        """Return the checkpoint that the first rank sends; None before the first one. Raises Unreachable."""
        stored = self._bucket.get(f"{self._run}/sending.json")
        return None if stored is None else str(json.loads(stored[0])["name"])

    def progress(self, name: str) -> tuple[int, int]:
        """Return the numbers of ranks that have written their part, and of blocks. Raises Unreachable."""
        parts, blocks = (sum(1 for _ in self._bucket.list(start)) for start in (self._parts(name), self._blocks(name)))
        return parts, blocks

    def mark_damaged(self, name: str, reason: str) -> None:
        """Let later starts pass a checkpoint over. Raises Unreachable."""
        self._bucket.put(f"{self._run}/damaged/{name}", reason.encode(), if_absent=True)

    def damaged(self) -> frozenset[str]:
        """Return the checkpoints that later starts pass over. Raises Unreachable."""
        start = f"{self._run}/damaged/"
        return frozenset(entry.key.removeprefix(start) for entry in self._bucket.list(start))

    def complete(self, name: str, ranks: int) -> None:
        """Write the manifest of a checkpoint whose parts are all there, then the pointer. Raises Superseded, Damaged, Unreachable.

        A checkpoint of which a rank has not written its part has no manifest: it does not exist.
        """
        stored = self._bucket.get(self._manifest_key(name))
        body = None if stored is None else stored[0]
        if body is None:
            bodies = [self._bucket.get(self._part_key(name, rank)) for rank in range(ranks)]
            parts = [read_manifest(part[0], self._run, name) for part in bodies if part is not None]
            if len(parts) < ranks:
                raise Unreachable(f"{len(parts)} of {ranks} ranks have written their part")
            body = _merged(parts).to_bytes()
            read_manifest(body, self._run, name)  # refuses a path that two ranks have written
            self.latest.check()
            self._bucket.put(self._manifest_key(name), body, if_absent=True)
            self._say(f"checkpoint {name} of {ranks} ranks is in {self._bucket.url}/{self._run}")
        if not self.latest.advance(name, hashlib.sha256(body).hexdigest()):
            self._say(f"latest.json has a greater step than {name} and is not changed")

    def absent_blocks(self, manifest: Manifest) -> int:
        """Return the number of blocks that a checkpoint lacks. Raises Unreachable."""
        present = {entry.key for entry in self._bucket.list(self._blocks(manifest.name))}
        parts = ((*manifest.part(index), block) for index, block, _, _ in manifest.blocks())
        return sum(self._block_key(manifest.name, number, block, rank) not in present for rank, number, block in parts)

    def _send_blocks(self, folder: CheckpointFolder, manifest: Manifest, rank: int | None = None) -> None:
        name, read, begin = manifest.name, folder.reader(manifest), time.monotonic()
        reported, done, sent, lock = begin, 0, 0, threading.Lock()
        self._sent = {key for key in self._sent if f"/{name}/" in key}

        def send_block(index: int, block: int, size: int, digest: str) -> None:
            nonlocal reported, done, sent
            key = self._block_key(name, index, block, rank)
            if key not in self._sent:
                body = read(index, block)
                if hashlib.sha256(body).hexdigest() != digest:
                    raise Damaged(f"{name}: {manifest.files[index].path} has changed since it was saved")
                self._bucket.put(key, body)
                self._sent.add(key)
                with lock:
                    sent += size
            with lock:
                done += size
                if time.monotonic() - reported > _PROGRESS_SECONDS:
                    reported = time.monotonic()
                    self._say(f"checkpoint {name}: {done / MIB:,.0f} of {manifest.size / MIB:,.0f} MiB are sent")

        run_all([partial(send_block, *block) for block in manifest.blocks()], self._workers)
        seconds = max(time.monotonic() - begin, 0.001)
        rate = f"{sent / MIB:,.1f} MiB in {seconds:.1f} s ({sent * 8 / seconds / 1e6:,.0f} Mbit/s)"
        self._say(f"blocks of checkpoint {name} are sent: {rate}")

    def prune(self, keep: int) -> None:
        """Delete all but the newest `keep` checkpoints and the pointer's checkpoint, and abandoned blocks."""
        if not self._may_delete:
            return
        try:
            latest = self.latest.check()
            names = self.names()
            for name in names[keep:]:
                if name != latest:
                    # First the manifest: a checkpoint that is deleted in part must not be visible.
                    self._bucket.delete([self._manifest_key(name)])
                    for start in (self._blocks(name), self._parts(name)):
                        self._bucket.delete([entry.key for entry in self._bucket.list(start)])
            self._delete_abandoned({*names})
        except Unreachable as failure:
            # Without `jobs_may_delete` the role of jobs has no right to delete.
            self._may_delete = "AccessDenied" not in str(failure)
            self._say(f"old checkpoints in {self._bucket.url} are not deleted: {failure}")

    def _delete_abandoned(self, complete: set[str]) -> None:
        limit = datetime.now(UTC) - ABANDONED
        blocks: dict[str, list[str]] = {}
        young: set[str] = set()
        for start in (f"{self._run}/parts/", f"{self._run}/blocks/"):
            for entry in self._bucket.list(start):
                name = entry.key.removeprefix(start).partition("/")[0]
                blocks.setdefault(name, []).append(entry.key)
                if entry.modified > limit:
                    young.add(name)
        for name, keys in blocks.items():
            if name not in complete and name not in young:
                self._bucket.delete(keys)

    def _manifest_key(self, name: str) -> str:
        return f"{self._run}/manifests/{name}.json"

    def _blocks(self, name: str) -> str:
        return f"{self._run}/blocks/{name}/"

    def _block_key(self, name: str, index: int, block: int, rank: int | None) -> str:
        return f"{self._blocks(name)}{'' if rank is None else f'{rank:06d}-'}{index:06d}-{block:06d}"

    def _parts(self, name: str) -> str:
        return f"{self._run}/parts/{name}/"

    def _part_key(self, name: str, rank: int) -> str:
        return f"{self._parts(name)}{rank:06d}.json"


def _merged(parts: Sequence[Manifest]) -> Manifest:
    """Return the manifest of a checkpoint from the manifests of its ranks; facts and generation are the first one's."""
    folders = sorted({folder for part in parts for folder in part.folders})
    files = tuple(file for part in parts for file in part.files)
    return replace(parts[0], files=files, folders=tuple(folders), parts=tuple(len(part.files) for part in parts))
