"""Service landbridge-dataset-cache: answers the requests of jobs at a socket."""

import contextlib
import fcntl
import grp
import json
import os
import re
import socket
import struct
import sys
import threading

from dataset_cache.cache import Cache
from dataset_cache.dataset import NotCached, read

JOB = re.compile(r"^0::(/.*/job_\d+)(?:/|$)", re.MULTILINE)


def job_group(pid, proc="/proc"):
    """Return the control group of the Slurm job of a process; empty without one."""
    matched = JOB.search(read(f"{proc}/{pid}/cgroup"))
    return matched[1] if matched else ""


def answer(cache, settings, connection):
    """Answer a request; request and answer are one line of JSON each."""
    with connection:
        pid, uid, _ = struct.unpack("3i", connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))
        connection.settimeout(10)
        try:
            request = json.loads(connection.makefile().readline(1 << 16))
            connection.settimeout(None)
            group = job_group(pid, settings.get("proc", "/proc"))
            credentials = request.get("credentials")
            reply = {"path": cache.path(str(request["dataset"]), str(request["class"]), uid, group, credentials)}
        except (NotCached, OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            reply = {"text": f"{type(error).__name__}: {error}" if not isinstance(error, NotCached) else str(error)}
            print(f"not cached: {reply['text']}", file=sys.stderr, flush=True)
        try:
            connection.sendall(json.dumps(reply).encode() + b"\n")
        except OSError:
            return  # The job has ended meanwhile.


def serve(settings):
    """Run the service."""
    os.umask(0o022)
    os.makedirs(settings["root"], mode=0o755, exist_ok=True)
    held = os.open(os.path.join(settings["root"], ".lock"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    fcntl.flock(held, fcntl.LOCK_EX)
    for name, words in settings["classes"].items():
        folder = os.path.join(settings["root"], name)
        os.makedirs(folder, exist_ok=True)
        os.chown(folder, -1, grp.getgrnam(words["group"]).gr_gid if words["group"] else -1)
        # The buckets' classes have no group on a node in AWS: users enter the folders of their jobs.
        os.chmod(folder, 0o750 if settings.get("buckets") is None else 0o700)
    cache = Cache(settings)
    with contextlib.suppress(FileNotFoundError):
        os.unlink(settings["socket"])
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(settings["socket"])
        os.chmod(settings["socket"], 0o666)
        listener.listen(64)
        listener.settimeout(settings["inspection_seconds"])
        while True:
            try:
                connection, _ = listener.accept()
                threading.Thread(target=answer, args=(cache, settings, connection), daemon=True).start()
            except socket.timeout:  # noqa: UP041 - not TimeoutError before Python 3.10
                cache.remove_ended()
