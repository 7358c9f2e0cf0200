"""Checkpoints of a run: saved on a local disk, sent in the background, restored from the place with the newest one."""

import os
import re
import time
import uuid
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from landbridge_checkpoints.folders import CheckpointFolder
from landbridge_checkpoints.latest import LatestPointer, Superseded
from landbridge_checkpoints.manifest import Damaged, Generation, Manifest, checkpoint_name, order
from landbridge_checkpoints.objects import Unreachable, objects
from landbridge_checkpoints.threads import BackgroundCall, BackgroundSender
from landbridge_checkpoints.uploads import UploadedCheckpoints

URL = "LANDBRIDGE_CHECKPOINT_URL"
_RUN = re.compile(r"^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$")
_PAUSE = 2.0
T = TypeVar("T")
#: Function that begins to write the files of a folder, and returns one that waits for them.
WriteBehind = Callable[[Path], Callable[[], object]]


def checked_run(run: str, keep: int, workers: int) -> str:
    """Return the name of a run, which is a part of paths and keys. Raises ValueError for another form, and for numbers below 1."""
    if not _RUN.fullmatch(run):
        raise ValueError(f"run {run!r}: use letters, digits, '.', '_' and '-'")
    if keep < 1 or workers < 1:
        raise ValueError("keep and workers are at least 1")
    return run


@dataclass(frozen=True)
class Restored:
    """Complete, verified checkpoint on the local disk. `path` has its files, `source` the place that had it."""

    path: Path
    step: int
    facts: Mapping[str, Any]
    name: str
    source: str


class CheckpointStore:
    """Checkpoints of one run, for the process that writes them. Its messages go to `say`.

    `run`: identity of the run at all sites; default: cluster and number of the Slurm job, which a requeued job keeps.
    `local`: folder on a local disk; default: that of the job (`SCRATCH`), else `checkpoints`. `shared`: folder of a
    shared file system. `url`: `s3://BUCKET/PREFIX`, default LANDBRIDGE_CHECKPOINT_URL; without one there is no bucket.
    `keep`: complete checkpoints that are kept at each place. `limit_mbit`: bandwidth of uploads in Mbit/s.
    """

    def __init__(
        self,
        run: str | None = None,
        *,
        local: Path | str | None = None,
        shared: Path | str | None = None,
        url: str | None = None,
        keep: int = 3,
        limit_mbit: float | None = None,
        workers: int = 4,
        say: Callable[[str], None] = partial(print, flush=True),
        environ: Mapping[str, str] = os.environ,
    ) -> None:
        job = environ.get("SLURM_JOB_ID", "")
        self.run = checked_run(run or f"{environ.get('SLURM_CLUSTER_NAME', 'local')}-{job or 'run'}", keep, workers)
        self._say, self._keep = say, keep
        self._process = Generation(0, job, int(environ.get("SLURM_RESTART_COUNT") or 0), uuid.uuid4().hex[:16])
        scratch = environ.get("SCRATCH")
        local = local or (Path(scratch) / "checkpoints" if scratch else Path("checkpoints"))
        self._local = self._folder(local)
        self._shared = None if shared is None else self._folder(shared)
        self._bucket: UploadedCheckpoints | None = None
        if url := environ.get(URL, "") if url is None else url:
            prefix = objects(url, workers, limit_mbit)
            latest = LatestPointer(prefix, self.run, self._process, say)
            self._bucket = UploadedCheckpoints(prefix, self.run, latest, workers, say)
        self._sender, self._behind = BackgroundSender(self._send, say), BackgroundCall()
        self._last_step: int | None = None
        self._saved: str | None = None
        self._sent: str | None = None
        self._in_use: str | None = None
        self._unsaved: str | None = None
        #: True after a newer process of the run was seen: this process sends nothing more.
        self.superseded = False

    def restore(self, wait: float = 300.0) -> Restored | None:
        """Return the newest complete checkpoint of all places, copied to the local disk; None without one.

        In the bucket this process becomes the run's only writer first. A damaged copy is reported, and another place or
        the next older checkpoint is used. Raises Superseded in an older start of the same job, and Unreachable if S3 does
        not answer for `wait` seconds and no other place has a checkpoint: the run would start from the beginning.
        """
        deadline = time.monotonic() + wait
        uploaded: list[str] = []
        unreachable: Unreachable | None = None
        try:
            uploaded = self._retried(self._claimed_names, deadline)
        except Unreachable as failure:
            unreachable = failure
        places = {"local disk": self._local.names()}
        if self._shared is not None:
            places["shared file system"] = self._shared.names()
        places["bucket"] = uploaded
        names = sorted({name for listed in places.values() for name in listed}, key=order, reverse=True)
        for name in names:
            for place in (place for place, listed in places.items() if name in listed):
                try:
                    manifest = self._copied(name, place, deadline)
                except Damaged as damage:
                    self._say(f"passed over, {place}: {damage}")
                    continue
                except Unreachable as failure:
                    unreachable = failure
                    continue
                self._last_step, self._in_use = manifest.step, name
                self._process = replace(self._process, number=self._number(manifest))
                self._say(f"restored checkpoint {name} (step {manifest.step}) from the {place}")
                # The other places may lack it, and the next start may be at another site.
                self._deliver(name)
                return Restored(self._local.path(name), manifest.step, manifest.facts, name, place)
        if unreachable is not None:
            raise unreachable
        self._process = replace(self._process, number=self._number(None))
        self._say(f"no complete checkpoint of {self.run}: it starts from the beginning")
        return None

    def fetch(self, name: str, wait: float = 300.0) -> Restored:
        """Return a checkpoint by its name, for the other nodes of a run: the first node restores, and sends them the name.

        Raises Damaged, Unreachable.
        """
        deadline = time.monotonic() + wait
        for place, folder in (("local disk", self._local), ("shared file system", self._shared)):
            if folder is not None and name in folder.names():
                try:
                    manifest = self._copied(name, place, deadline)
                    return Restored(self._local.path(name), manifest.step, manifest.facts, name, place)
                except Damaged as damage:
                    self._say(f"passed over, {place}: {damage}")
        if self._bucket is None:
            raise Damaged(f"{name} is neither on the local disk nor on a shared file system, and there is no bucket")
        manifest = self._copied(name, "bucket", deadline)
        return Restored(self._local.path(name), manifest.step, manifest.facts, name, "bucket")

    @contextmanager
    def writing(self, step: int, facts: Mapping[str, Any] | None = None) -> Iterator[Path]:
        """Give an empty folder for the files of a checkpoint. It is complete at the end of the block, then it is sent.

        After an exception the checkpoint does not exist. Raises ValueError for a step that is not greater than the last.
        """
        name, generation, begin = *self._next(step), time.monotonic()
        try:
            yield self._local.begin(name)
            self._complete(name, step, generation, facts or {}, begin)
        except BaseException:
            self._local.discard(name)
            raise

    def write_behind(self, step: int, write: WriteBehind, facts: Mapping[str, Any] | None = None) -> None:
        """Begin a checkpoint whose files are written while training goes on; the one before is complete first.

        `write` gets the empty folder and returns a function that waits for the files, such as `dcp.async_save(…).result`
        or the `wait_until_finished` of Orbax. If that fails, the checkpoint does not exist, and `finish` returns false.
        """
        name, generation, begin = *self._next(step), time.monotonic()
        try:
            wait = write(self._local.begin(name))
        except BaseException:
            self._local.discard(name)
            raise
        self._last_step, self._unsaved = step, name

        def complete() -> None:
            try:
                wait()
                self._complete(name, step, generation, facts or {}, begin)
            except Exception as failure:  # noqa: BLE001 - a framework can fail in any way; training goes on
                self._local.discard(name)
                self._say(f"checkpoint {name} is not saved: {type(failure).__name__}: {failure}")

        self._behind.begin(complete)

    def finish(self, timeout: float) -> bool:
        """Wait for the last upload for at most this time. False, after a message, if a checkpoint is not at all places."""
        deadline = time.monotonic() + timeout
        if not self._behind.wait(timeout) or self._unsaved is not None:
            self._say(f"checkpoint {self._unsaved} is not saved")
            return False
        remaining = max(deadline - time.monotonic(), 0.0)
        if self._saved is None or (self._sender.drain(remaining) and self._sent == self._saved):
            return True
        waited = f" after {timeout:.0f} s" if self._sender.unsent() else ""
        self._say(f"checkpoint {self._saved} is not sent{waited}; it is in {self._local.path(self._saved)}")
        return False

    @property
    def failures(self) -> int:
        """Return the number of failed attempts to send a checkpoint."""
        return self._sender.failures

    def _next(self, step: int) -> tuple[str, Generation]:
        self._behind.wait(None)
        if self._last_step is not None and step <= self._last_step:
            raise ValueError(f"step {step}: the last checkpoint has step {self._last_step}")
        generation = replace(self._process, number=self._process.number or 1)
        return checkpoint_name(step, generation), generation

    def _complete(self, name: str, step: int, generation: Generation, facts: Mapping[str, Any], begin: float) -> None:
        manifest = self._local.seal(name, step, generation, facts)
        self._last_step, self._in_use, self._unsaved = step, None, None
        self._say(f"saved checkpoint {name}: {manifest.size / 2**20:,.1f} MiB in {time.monotonic() - begin:.1f} s")
        self._deliver(name)
        self._prune_local()

    def _deliver(self, name: str) -> None:
        if self._bucket is not None or self._shared is not None:
            self._saved = name
            self._sender.put(name)

    def _send(self, name: str) -> None:
        """Copy a checkpoint to the shared file system and to the bucket, each even if the other fails."""
        failure: Exception | None = None
        if self._shared is not None and name not in self._shared.names():
            try:
                self._shared.fetch(self._local.manifest(name), self._local.reader(self._local.manifest(name)))
                self._shared.prune(self._keep, {name})
            except OSError as error:
                failure = error
        if self._bucket is not None and not self.superseded:
            try:
                self._bucket.send(self._local, name)
                self._sent = name
                self._bucket.prune(self._keep)
            except Superseded as newer:
                self._stop_sending(newer)
            except Damaged as damage:
                self._say(f"not sent: {damage}")
        if failure is not None:
            raise failure
        if self._bucket is None:
            self._sent = name
        self._prune_local()

    def _stop_sending(self, newer: Superseded) -> None:
        self.superseded = True
        self._say(f"nothing more is uploaded: {newer}")

    def _prune_local(self) -> None:
        protected = {*self._sender.unsent(), *(() if self._in_use is None else (self._in_use,))}
        try:
            self._local.prune(self._keep, protected)
        except OSError as error:
            self._say(f"old checkpoints on the local disk are not removed: {error}")

    def _claimed_names(self) -> list[str]:
        if self._bucket is None:
            return []
        self._bucket.latest.claim(starts=True)
        return self._bucket.names()

    def _number(self, restored: Manifest | None) -> int:
        """Return the number of this generation: the claim's number, else one more than the restored one's."""
        claimed = None if self._bucket is None else self._bucket.latest.claimed
        return claimed or (1 if restored is None else restored.generation.number + 1)

    def _copied(self, name: str, place: str, deadline: float) -> Manifest:
        """Verify a checkpoint of a place, after copying it to the local disk. Raises Damaged, Unreachable."""
        if place == "local disk":
            return self._local.verify(name)
        source = self._bucket if place == "bucket" else self._shared
        assert source is not None
        try:
            return self._retried(partial(self._copy, source, name), deadline)
        finally:
            self._local.discard(name)

    def _copy(self, source: UploadedCheckpoints | CheckpointFolder, name: str) -> Manifest:
        manifest = source.manifest(name)
        self._local.fetch(manifest, source.reader(manifest))
        return manifest

    def _retried(self, call: Callable[[], T], deadline: float) -> T:
        """Return the result of a call that is repeated while S3 does not answer. Raises Unreachable at the deadline."""
        attempt = 0
        while True:
            try:
                return call()
            except Unreachable as failure:
                attempt += 1
                remaining = deadline - time.monotonic()
                if attempt == 1 or remaining <= 0:
                    self._say(f"S3: {failure}; {'trying again' if remaining > 0 else f'given up, attempt {attempt}'}")
                if remaining <= 0:
                    raise
                time.sleep(min(_PAUSE, remaining))

    def _folder(self, root: Path | str) -> CheckpointFolder:
        return CheckpointFolder(Path(root).absolute(), self.run, self._process.writer)
