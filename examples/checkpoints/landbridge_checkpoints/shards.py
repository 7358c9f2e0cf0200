"""Checkpoints whose files several processes write, each on the disk of its own node, as PyTorch DCP and Orbax do.

Each rank sends its own files. The first rank writes the manifest and the pointer when every rank has written its part: without
one of them the checkpoint does not exist. They are restored from the bucket, which has the files of all ranks.
"""

import fcntl
import json
import os
import threading
import time
import uuid
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import Any

from landbridge_checkpoints.folders import CheckpointFolder
from landbridge_checkpoints.latest import LatestPointer, Superseded
from landbridge_checkpoints.manifest import Damaged, Generation, checkpoint_name, order
from landbridge_checkpoints.objects import Unreachable, objects
from landbridge_checkpoints.store import URL, Restored, WriteBehind, checked_run
from landbridge_checkpoints.threads import BackgroundCall, BackgroundSender, NotYet
from landbridge_checkpoints.uploads import UploadedCheckpoints

_PAUSE = 2.0
#: Time without a new block of any rank after which the first rank gives a checkpoint up.
_STALLED_SECONDS = 60.0


class ShardedCheckpoints:
    """Checkpoints of one run, for one of its `ranks` processes. Call `open` first, then `restore`, then `writing` at the same steps.

    The other arguments are those of CheckpointStore; `local` may be one folder for all ranks of a node. `one_folder`: all ranks
    write to one folder below `local`, which they all see, as Orbax needs it; the first rank sends the files of all.
    """

    def __init__(
        self,
        run: str | None = None,
        *,
        rank: int,
        ranks: int,
        one_folder: bool = False,
        local: Path | str | None = None,
        url: str | None = None,
        keep: int = 3,
        limit_mbit: float | None = None,
        workers: int = 4,
        say: Callable[[str], None] = partial(print, flush=True),
        environ: Mapping[str, str] = os.environ,
    ) -> None:
        job = environ.get("SLURM_JOB_ID", "")
        self.run = checked_run(run or f"{environ.get('SLURM_CLUSTER_NAME', 'local')}-{job or 'run'}", keep, workers)
        url = environ.get(URL, "") if url is None else url
        if not url:
            raise ValueError(f"checkpoints of several ranks need a bucket: {URL} is not set")
        if not 0 <= rank < ranks:
            raise ValueError(f"rank {rank} of {ranks}")
        self._rank, self._ranks, self._keep, self._say = rank, ranks, keep, say
        self._process = Generation(0, job, int(environ.get("SLURM_RESTART_COUNT") or 0), uuid.uuid4().hex[:16])
        scratch = environ.get("SCRATCH")
        self._root = Path(local or (Path(scratch) / "checkpoints" if scratch else "checkpoints")).absolute()
        self._one_folder = one_folder
        self._prefix, self._workers = objects(url, workers, limit_mbit), workers
        self._own = self._folder_of_rank()
        self._whole = CheckpointFolder(self._root / "whole", self.run, self._process.writer)
        self._uploads: UploadedCheckpoints | None = None
        self._name: str | None = None
        self._last_step: int | None = None
        self._saved: str | None = None
        self._sent: str | None = None
        self._unsaved: str | None = None
        self._unsent: list[str] = []
        self._lock = threading.Lock()
        self._sender, self._behind = BackgroundSender(self._send, say, longest_pause=_PAUSE), BackgroundCall()
        #: True after a newer start of the run was seen: this process sends nothing more.
        self.superseded = False

    def open(self, token: str | None = None, wait: float = 300.0) -> str:
        """Join the start of the run, and return its token: the first rank calls it without one, and sends it to all others.

        The token has the writer and the checkpoint that all ranks restore. Raises Superseded, Unreachable.
        """
        if (token is None) != (self._rank == 0):
            raise ValueError("the first rank opens without a token, the others with that of the first one")
        if token is not None:
            words = json.loads(token)
            self._process, self._name = Generation(**words["generation"]), words["name"]
        latest = LatestPointer(self._prefix, self.run, self._process, self._say)
        self._uploads = UploadedCheckpoints(self._prefix, self.run, latest, self._workers, self._say)
        if token is None:
            self._name = self._retried(self._claimed, time.monotonic() + wait)
            self._process = replace(self._process, number=latest.claimed or 1)
        latest.claimed = self._process.number
        self._own = self._folder_of_rank()
        return json.dumps({"generation": asdict(self._process), "name": self._name})

    def restore(self, wait: float = 300.0) -> Restored | None:
        """Return the checkpoint of the token with the files of all ranks; None without one. Raises Damaged, Unreachable.

        After Damaged, end the program: the next start skips the checkpoint.
        Of the ranks that share a local folder, one copies the checkpoint, and the others wait.
        """
        name, uploads = self._name, self._opened()
        if name is None:
            return None
        self._root.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(self._root / ".lock", os.O_RDWR | os.O_CREAT, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            if name in self._whole.names():
                manifest = self._whole.manifest(name)
            else:
                manifest = self._retried(partial(uploads.manifest, name), time.monotonic() + wait)
                fetch = partial(self._whole.fetch, manifest, uploads.reader(manifest))
                try:
                    self._retried(fetch, time.monotonic() + wait)
                except Damaged as damage:
                    self._retried(partial(uploads.mark_damaged, name, str(damage)), time.monotonic() + wait)
                    raise
                self._whole.prune(1, {name})
        finally:
            os.close(descriptor)
        self._last_step = manifest.step
        self._say(f"restored checkpoint {name} (step {manifest.step}) from the bucket")
        return Restored(self._whole.path(name), manifest.step, manifest.facts, name, "bucket")

    @contextmanager
    def writing(self, step: int, facts: Mapping[str, Any] | None = None) -> Iterator[Path]:
        """Give an empty folder for this rank's files of a checkpoint. At the end of the block they are sent.

        Facts are those of the first rank. Raises ValueError for a step that is not greater than the last.
        """
        name = self._next(step)
        try:
            yield self._begin(name)
            self._complete(name, step, facts or {})
        except BaseException:
            self._discard(name)
            raise

    def write_behind(self, step: int, write: WriteBehind, facts: Mapping[str, Any] | None = None) -> None:
        """Begin a checkpoint whose files are written while training goes on, as `write_behind` of CheckpointStore does."""
        name = self._next(step)
        try:
            wait = write(self._begin(name))
        except BaseException:
            self._discard(name)
            raise
        self._last_step, self._unsaved = step, name

        def complete() -> None:
            try:
                wait()
                self._complete(name, step, facts or {})
            except Exception as failure:  # noqa: BLE001 - a framework can fail in any way; training goes on
                self._discard(name)
                self._say(f"checkpoint {name} is not saved: {type(failure).__name__}: {failure}")

        self._behind.begin(complete)

    def finish(self, timeout: float) -> bool:
        """Wait for the last upload for at most this time; in the first rank until all ranks have sent theirs. False if it is not."""
        deadline = time.monotonic() + timeout
        if not self._behind.wait(timeout) or self._unsaved is not None:
            self._say(f"checkpoint {self._unsaved} is not saved")
            return False
        remaining = max(deadline - time.monotonic(), 0.0)
        if self._saved is None or (self._sender.drain(remaining) and self._sent == self._saved):
            return True
        self._say(f"checkpoint {self._saved} is not complete in the bucket after {timeout:.0f} s")
        return False

    def _next(self, step: int) -> str:
        self._opened()
        self._behind.wait(None)
        if self._last_step is not None and step <= self._last_step:
            raise ValueError(f"step {step}: the last checkpoint has step {self._last_step}")
        return checkpoint_name(step, self._process)

    def _begin(self, name: str) -> Path:
        # In one folder only the first rank removes what an earlier attempt has left; others may come before it.
        return self._own.begin(name) if self._sends else self._own.unfinished(name)

    def _discard(self, name: str) -> None:
        if self._sends:
            self._own.discard(name)

    def _complete(self, name: str, step: int, facts: Mapping[str, Any]) -> None:
        if self._sends:
            self._own.seal(name, step, self._process, facts)
            self._saved = name
            with self._lock:
                # The first rank chooses one of its newest; older ones would fill the disk while the link is slow.
                self._unsent = [*self._unsent, name][-max(self._keep, 3) :]
            self._sender.put(name)
            self._own.prune(self._keep, {*self._sender.unsent(), *(self._unsent if self._rank else ())})
        self._last_step, self._unsaved = step, None

    def _folder_of_rank(self) -> CheckpointFolder:
        name = "one" if self._one_folder else f"rank-{self._rank:06d}"
        return CheckpointFolder(self._root / name, self.run, self._process.writer)

    @property
    def _sends(self) -> bool:
        return self._rank == 0 or not self._one_folder

    def _send(self, name: str) -> None:
        if self.superseded:
            return
        try:
            if self._rank == 0:
                self._send_of_first(name, 1 if self._one_folder else self._ranks)
            else:
                self._send_of_other()
        except Superseded as newer:
            self.superseded = True
            self._say(f"nothing more is uploaded: {newer}")
            return
        except Damaged as damage:
            self._say(f"not sent: {damage}")

    def _send_of_first(self, name: str, ranks: int) -> None:
        """Send the first rank's files, and complete the checkpoint when the parts of all ranks are there."""
        uploads = self._opened()
        uploads.choose(name)
        uploads.send_part(self._own, name, 0)
        before, deadline, pause = uploads.progress(name), time.monotonic() + _STALLED_SECONDS, 0.05
        while before[0] < ranks and time.monotonic() < deadline:
            time.sleep(pause)
            pause, now = min(2 * pause, _PAUSE), uploads.progress(name)
            if now != before:
                before, deadline = now, time.monotonic() + _STALLED_SECONDS
        uploads.complete(name, ranks)
        self._sent = name
        uploads.prune(self._keep)

    def _send_of_other(self) -> None:
        """Send this rank's files of the checkpoint that the first rank sends: of the others none would be complete."""
        uploads = self._opened()
        uploads.latest.check()
        chosen = uploads.chosen()
        if chosen is None or chosen not in self._unsent:
            raise NotYet
        uploads.send_part(self._own, chosen, self._rank)
        self._sent = chosen
        with self._lock:
            self._unsent = [name for name in self._unsent if order(name) > order(chosen)]
        if self._unsent:
            raise NotYet

    def _claimed(self) -> str | None:
        """Claim the run, and return its newest checkpoint of which no block is absent; None without one."""
        uploads = self._opened()
        uploads.latest.claim(starts=True)
        damaged = uploads.damaged()
        for name in uploads.names():
            if name in damaged:
                self._say(f"passed over: {name} did not match its SHA-256 at an earlier start")
                continue
            try:
                absent = uploads.absent_blocks(uploads.manifest(name))
            except Damaged as damage:
                self._say(f"passed over: {damage}")
                continue
            if not absent:
                return name
            self._say(f"passed over: {name} lacks {absent} blocks")
        self._say(f"no complete checkpoint of {self.run}: it starts from the beginning")
        return None

    def _opened(self) -> UploadedCheckpoints:
        if self._uploads is None:
            raise ValueError("call the method open first")
        return self._uploads

    def _retried(self, call: Callable[[], Any], deadline: float) -> Any:
        while True:
            try:
                return call()
            except Unreachable as failure:
                if time.monotonic() >= deadline:
                    raise
                self._say(f"S3: {failure}; trying again")
                time.sleep(_PAUSE)
