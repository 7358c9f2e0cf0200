"""Mover of results: after the end of a job it copies them from the bucket of their data class to the site.

No node runs for it: the job has written to the bucket. A process that was killed continues from the folder of the copy.
"""

import hashlib
import json
import os
import re
import shutil
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

from landbridge.aws_api.objects import ObjectBucket
from landbridge.aws_api.refusal import AwsRefusal
from landbridge.findings import FindingsError
from landbridge.live.staging.class_buckets import ClassBuckets
from landbridge.live.staging.config import MoverConfig
from landbridge.live.staging.results_copy import RESULTS_FILE, ResultsCopy, result_objects
from landbridge.staging.exchange import read_results, write_results_reports
from landbridge.staging.results import (
    RESULTS_AT_SITE,
    RESULTS_FOLDER,
    ResultsReport,
    ResultsRequest,
    ResultsStatement,
    results_prefix,
    stated_results,
)
from landbridge.user_files import parse_user_json, read_user_head

#: Command in the ledger.
RESULTS_HOME = "results"
#: Seconds between two reports of a copy that runs, and until results are tried again that could not be copied.
REPORT_SECONDS, RETRY_SECONDS = 5.0, 600.0
#: Folder of unfinished copies in that of a data class; no dataset may have this name.
_COPIES = ".results"
#: Bytes of the description of finished results that are read: run and end of the job are first, then a row for each file.
HEAD_BYTES = 4096
_RUN = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}")
_USER = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.@-]{0,63}\$?")


def _description(head: bytes) -> Mapping[str, object]:
    """Return what a description of results has before its files. Raises ValueError."""
    described: Mapping[str, object] = parse_user_json(head.partition(b'"files"')[0].rstrip(b", \n") + b"}")
    return described


class ResultsMover:
    """Mover of the results of one site's jobs."""

    def __init__(self, config: MoverConfig, buckets: ClassBuckets, log: Callable[[str], None]) -> None:
        self._config, self._buckets, self._log = config, buckets, log
        self._failed: dict[tuple[str, float | None], tuple[float, str]] = {}
        self._reports: dict[str, ResultsReport] = {}
        self._reported_at = 0.0

    def cycle(self) -> bool:
        """Report the results of every request, and copy the results of the job that ended first; return true if some
        were copied.
        """
        try:
            requests = read_results(self._config.exchange)
        except (OSError, ValueError) as error:
            self._log(f"results: {error}")
            return False
        self._reports = {run: self._inspect_alone(request) for run, request in requests.items()}
        self._write()
        ended = sorted(
            (request.ended, run)
            for run, request in requests.items()
            if request.ended is not None and self._reports[run].state == "absent" and not self._reports[run].text
        )
        return any(self._move(requests[run]) for _, run in ended[:1])

    def _inspect_alone(self, request: ResultsRequest) -> ResultsReport:
        """Return the report about results; an unexpected error refuses this request only."""
        try:
            return self._inspect(request)
        except Exception as error:  # noqa: BLE001 - a user's files decide what happens in it
            self._log(f"results of {request.run}: {type(error).__name__}: {error}")
            return ResultsReport("refused", request.ended, text=f"unexpected error: {type(error).__name__}")

    def _inspect(self, request: ResultsRequest) -> ResultsReport:
        """Return the report about results by the bucket and the folders of the site."""
        reason = self._refusal(request)
        if reason is not None:
            return ResultsReport("refused", request.ended, text=reason)
        report = ResultsReport("open", request.ended, path=self._path(request))
        if request.ended is None:
            return report
        failed = self._failed.get((request.run, request.ended))
        if failed is not None and time.monotonic() < failed[0]:
            return replace(report, state="refused", text=failed[1])
        try:
            if self._is_home(request):
                self._clean_up(request)
                return replace(report, state="home")
            if os.path.lexists(self._target(request)):
                text = f"{self._path(request)} exists with other content; the results stay in the bucket"
                return replace(report, state="refused", text=text)
            bucket = self._buckets.bucket(request.data_class)
            prefix = results_prefix(request.run, request.path)
            objects = result_objects(bucket, prefix)
            if not objects:
                return replace(report, state="empty", path="", text=f"nothing is in s3://{bucket.name}/{prefix}")
            number, left = ResultsCopy(bucket, objects, self._copy_folder(request)).left()
            requests = sum(each.requests for each in objects) if number else 0
            usd = self._buckets.usd(reads=requests + 1, writes=1, bytes_out=left)
            size, seconds = sum(each.size for each in objects), self._buckets.seconds(RESULTS_HOME, left)
            return replace(report, state="absent", size=size, left=left, seconds=seconds, usd=usd)
        except FindingsError as error:
            return replace(report, state="refused", text="; ".join(finding.message for finding in error.findings[:5]))
        except (AwsRefusal, OSError) as error:
            return replace(report, state="absent", text=str(error))

    def _refusal(self, request: ResultsRequest) -> str | None:
        """Return the reason why results cannot be at the site; None without one."""
        known = self._config.classes.get(request.data_class)
        if known is None:
            return f"no data class {request.data_class or '(none)'} is known to the mover"
        if "onprem" not in known.sites:
            return f"data of class {request.data_class} may not be at the site; the results stay in the bucket"
        if "aws" not in known.sites or known.bucket is None:
            return f"class {request.data_class} has no bucket: its jobs write to the file systems of the site"
        try:
            is_form = stated_results(f"results={request.path}:{request.name}") == ResultsStatement(
                request.path, request.name
            )
        except ValueError:
            is_form = False
        is_name = _RUN.fullmatch(request.run) and _USER.fullmatch(request.user) and request.uid >= 0
        return None if is_form and is_name else "the request has a name that is not permitted"

    def _move(self, request: ResultsRequest) -> bool:
        self._log(f"results of {request.run}: copy to {self._path(request)}")
        before = self._reports[request.run]
        left = before.left

        def advance(count: int) -> None:
            nonlocal left
            left = max(0, left - count)
            if time.monotonic() - self._reported_at >= REPORT_SECONDS:
                seconds = before.seconds * left / before.left if before.seconds is not None and before.left else None
                self._reports[request.run] = replace(before, state="moving", left=left, seconds=seconds)
                self._write()

        self._reports[request.run] = replace(before, state="moving")
        self._write()
        try:
            self._copy(request, before, advance)
        except FindingsError as error:
            text = "; ".join(finding.message for finding in error.findings[:5])
            self._failed[request.run, request.ended] = (time.monotonic() + RETRY_SECONDS, text)
        except (AwsRefusal, OSError) as error:
            self._log(f"results of {request.run}: {error}")
            self._reports[request.run] = replace(before, text=str(error))
            self._write()
            return False
        report = self._inspect_alone(request)
        self._reports[request.run] = report
        self._write()
        self._log(f"results of {request.run}: {report.state} {report.text}".rstrip())
        return True

    def _copy(self, request: ResultsRequest, before: ResultsReport, advance: Callable[[int], None]) -> None:
        self._buckets.require_role()
        bucket = self._buckets.bucket(request.data_class)
        objects = result_objects(bucket, results_prefix(request.run, request.path))
        facts = {"command": RESULTS_HOME, "run": request.run, "data_class": request.data_class, "user": request.user}
        transfer = self._buckets.ledger.begin({**facts, "ended": request.ended, "usd": before.usd})
        folder, target = self._class_folder(request), self._target(request)
        # Nothing of an unfinished copy is visible to users.
        (folder / _COPIES).mkdir(parents=True, exist_ok=True, mode=0o700)
        began, copy = time.monotonic(), ResultsCopy(bucket, objects, self._copy_folder(request))
        moved = copy.left()[1]
        copy.fetch(advance)
        group = folder.stat().st_gid
        target.parent.parent.mkdir(exist_ok=True, mode=0o755)
        target.parent.mkdir(exist_ok=True, mode=0o750)
        os.chown(target.parent, request.uid, group)
        copy.publish(target, {"run": request.run, "ended": request.ended}, request.uid, group)
        self._note(request, bucket)
        calls = dict(bucket.calls)
        reads, writes = calls.get("get_object", 0) + calls.get("head_object", 0), calls.get("put_object", 0)
        usd = self._buckets.usd(reads=reads, writes=writes + calls.get("list_objects_v2", 0), bytes_out=moved)
        seconds = round(time.monotonic() - began, 3)
        amounts = {"bytes": moved, "read_bytes": moved, "files": len(objects), "seconds": seconds}
        self._buckets.ledger.end(transfer, {**amounts, "calls": calls, "usd": usd, "path": self._path(request)})
        self._clean_up(request)

    def _note(self, request: ResultsRequest, bucket: ObjectBucket) -> None:
        """Write into the bucket that the results are at the site. `landbridge data gc` deletes them after that."""
        text = json.dumps({"run": request.run, "ended": request.ended, "path": self._path(request)}).encode() + b"\n"
        bucket.put(f"{RESULTS_AT_SITE}/{request.run}.json", text, hashlib.sha256(text).hexdigest())

    def _clean_up(self, request: ResultsRequest) -> None:
        """Remove the folder of a finished copy; of one that was killed after its rename write the note too."""
        folder = self._copy_folder(request)
        if folder.exists():
            self._note(request, self._buckets.bucket(request.data_class))
            shutil.rmtree(folder)

    def _is_home(self, request: ResultsRequest) -> bool:
        """Return true if the folder at the site is of this run and this end of its job."""
        try:
            # The folder belongs to the user: a link in its place is not followed.
            folder = os.open(self._target(request), os.O_RDONLY | os.O_NOFOLLOW | os.O_DIRECTORY)
            try:
                described: Mapping[str, object] = _description(read_user_head(RESULTS_FILE, HEAD_BYTES, folder))
            finally:
                os.close(folder)
            return (described["run"], described["ended"]) == (request.run, request.ended)
        except (OSError, ValueError, KeyError, TypeError):
            return False

    def _class_folder(self, request: ResultsRequest) -> Path:
        return self._config.folder / request.data_class

    def _copy_folder(self, request: ResultsRequest) -> Path:
        return self._class_folder(request) / _COPIES / request.run

    def _target(self, request: ResultsRequest) -> Path:
        return self._class_folder(request) / RESULTS_FOLDER / request.user / request.name

    def _path(self, request: ResultsRequest) -> str:
        """Return the path of results on nodes."""
        parts = (self._config.mount, request.data_class, RESULTS_FOLDER, request.user, request.name)
        return "/".join(parts)

    def _write(self) -> None:
        """Write the reports; a folder that does not answer is tried again with the next report."""
        self._reported_at = time.monotonic()
        try:
            write_results_reports(self._config.exchange, self._reports)
        except OSError as error:
            self._log(f"{self._config.exchange}: {error.strerror or error}")
