"""Cached datasets of a node: their folders, their uses by jobs, and their removal."""

import hashlib
import json
import os
import shutil
import subprocess
import threading
from concurrent.futures import ThreadPoolExecutor

from dataset_cache.bucket import BucketFiles, bucket_url
from dataset_cache.dataset import CACHED, DESCRIPTION, DIGEST, MANIFEST, REFERENCE, NotCached, checked_files, copy, read
from dataset_cache.site import UserFiles

FILLING, REMOVING, VIEWS = ".filling-", ".removing-", ".jobs"


def eviction(trees, needed, limit):
    """Return the names of the datasets to remove, least recently used first, so that `needed` bytes fit; None if they cannot.

    `trees`: name, bytes, time of the last use, and whether a running job uses it.
    """
    excess = sum(size for _, size, _, _ in trees) + needed - limit
    removed = []
    for name, size, _, in_use in sorted(trees, key=lambda tree: (tree[2], tree[0])):
        if excess <= 0:
            break
        if not in_use:
            removed.append(name)
            excess -= size
    return removed if excess <= 0 else None


class Cache:
    """Cached datasets below `root`. Only one process uses the folder at a time."""

    def __init__(self, settings):
        self.root, self.classes = settings["root"], settings["classes"]
        self._source, self._limit, self._workers = settings["source"], settings["limit_bytes"], settings["workers"]
        self._groups, self._buckets = settings.get("cgroups", "/sys/fs/cgroup"), settings.get("buckets")
        self._lock, self._filling = threading.Lock(), {}
        self._reserved, self._record = {}, os.path.join(self.root, ".uses.json")
        # Jobs go on while the service is restarted.
        try:
            self._uses = {name: set(groups) for name, groups in json.loads(read(self._record)).items()}
        except ValueError:
            self._uses = {}  # After a power failure, when no job runs.
        # What was copied before the machine's last start may not be on the disk.
        record, present = (
            os.path.join(self.root, ".boot"),
            read(settings.get("boot", "/proc/sys/kernel/random/boot_id")),
        )
        begun = (REMOVING,) if read(record) == present else (REMOVING, FILLING)
        for data_class in self.classes:
            for entry in list(os.scandir(os.path.join(self.root, data_class))):
                if entry.name.startswith(begun):
                    delete(entry.path)
        with open(record, "w", encoding="utf-8") as stream:
            stream.write(present)

    def path(self, reference, data_class, uid, group, credentials=None):
        """Return the folder of a dataset for a user's job, after copying it. Raises NotCached and OSError."""
        matched = REFERENCE.fullmatch(reference)
        if matched is None or data_class not in self.classes:
            raise NotCached(f"{reference} of class '{data_class}' is not cached on this node")
        if not group:
            raise NotCached("the caller is not a process of a Slurm job with a control group")
        files = self._files(matched.groups(), data_class, uid, credentials)
        try:
            with files.open(DESCRIPTION) as stream:
                digest = str(json.loads(stream.read(1 << 16)).get("digest"))
            if not DIGEST.fullmatch(digest):
                raise NotCached("the dataset has no digest")
            name = f"{data_class}/{digest}"
            with self._lock:
                lock = self._filling.setdefault(name, threading.Lock())
                # Before the copy: it must not be removed between its end and its use.
                if group not in self._uses.setdefault(name, set()):
                    self._uses[name].add(group)
                    self._write_uses()
            with lock:
                if not os.path.isdir(os.path.join(self.root, name)):
                    self._fill(name, reference, files, digest)
        finally:
            files.close()
        final = os.path.join(self.root, name)
        os.utime(os.path.join(final, CACHED))
        return final if self._buckets is None else self._view(name, uid, group)

    def _files(self, reference, data_class, uid, credentials):
        """Return the dataset's files at the source: those that the caller may read."""
        if self._buckets is None:
            return UserFiles(os.path.join(self._source, data_class, *reference), uid)
        if not credentials:
            raise NotCached("the job has no AWS credentials")
        url = bucket_url(self._buckets, data_class)
        return BucketFiles(url, self._buckets["region"], reference, credentials)

    def _view(self, name, uid, group):
        """Return a folder with hard links to a dataset that only this user enters. It is removed with the job."""
        view = os.path.join(self.root, VIEWS, view_name(group))
        folder, link = os.path.join(view, str(uid)), name.replace("/", "-")
        final = os.path.join(folder, link)
        with self._lock:
            if not os.path.isdir(folder):
                os.makedirs(folder, mode=0o700)
                os.chmod(view, 0o711)
                os.chown(folder, uid, -1)
            if not os.path.isdir(final):
                # Not in the user's folder, where a link could lead elsewhere.
                incoming = os.path.join(view, f".incoming-{link}")
                delete(incoming)
                shutil.copytree(os.path.join(self.root, name), incoming, copy_function=os.link)
                os.rename(incoming, final)
        return final

    def _fill(self, name, reference, files, digest):
        with files.open(MANIFEST) as stream:
            listed = checked_files(stream.read(), digest)
        data_class, _, digest = name.partition("/")
        filling = os.path.join(self.root, data_class, FILLING + digest)
        size = sum(size for _, size, _, _ in listed)
        self._make_room(name, size)
        try:
            os.makedirs(filling, exist_ok=True)
            for folder in sorted({os.path.dirname(path) for path, _, _, _ in listed} - {""}):
                os.makedirs(os.path.join(filling, folder), exist_ok=True)
            with ThreadPoolExecutor(self._workers) as pool:
                list(pool.map(lambda file: copy(files, filling, *file), listed))
            with open(os.path.join(filling, CACHED), "w", encoding="utf-8") as stream:
                json.dump({"dataset": reference, "bytes": size}, stream)
            # Files first, then the name: a folder under its digest is complete also after a power failure.
            os.sync()
            os.rename(filling, os.path.join(self.root, name))
        finally:
            with self._lock:
                self._reserved.pop(name, None)

    def _make_room(self, name, size):
        with self._lock:
            trees = [tree for tree in self.trees() if tree[0] != name]
            removed = eviction(trees, size + sum(self._reserved.values()), self._limit)
            if removed is None:
                raise NotCached(f"{size:,} bytes do not fit beside the datasets of running jobs")
            for old in removed:
                self._remove(old)
            present = sum(size for other, size, _, _ in self.trees() if other == name)
            if size - present > shutil.disk_usage(self.root).free:
                raise NotCached(f"{self.root} has no {size:,} bytes free")
            self._reserved[name] = size

    def trees(self):
        """Return name, bytes, last use and whether it is used, of complete and of unfinished datasets."""
        result = []
        for data_class in self.classes:
            for entry in os.scandir(os.path.join(self.root, data_class)):
                digest = entry.name.replace(FILLING, "")
                name = f"{data_class}/{digest}"
                if not DIGEST.fullmatch(digest) or name in self._reserved:
                    continue
                used = name in self._uses and bool(self._running(name))
                try:
                    with open(os.path.join(entry.path, CACHED), encoding="utf-8") as stream:
                        size, last = json.load(stream)["bytes"], os.fstat(stream.fileno()).st_mtime
                except (OSError, ValueError, KeyError):
                    size, last = folder_bytes(entry.path), 0.0
                result.append((name, size, last, used))
        return result

    def remove_ended(self):
        """Remove datasets of classes that are not kept, after the last job that used them."""
        with self._lock:
            for name in list(self._uses):
                if not self._running(name):
                    del self._uses[name]
            views = os.path.join(self.root, VIEWS)
            running = {view_name(group) for groups in self._uses.values() for group in groups}
            for view in os.listdir(views) if os.path.isdir(views) else ():
                if view not in running:
                    delete(os.path.join(views, view))
            for name, _, _, used in self.trees():
                if not used and not self.classes[name.partition("/")[0]]["keep"]:
                    self._remove(name)

    def _write_uses(self):
        incoming = f"{self._record}.incoming"
        with open(incoming, "w", encoding="utf-8") as stream:
            json.dump({name: sorted(groups) for name, groups in self._uses.items() if groups}, stream)
        os.replace(incoming, self._record)

    def _running(self, name):
        """Return the control groups of the running jobs that use a dataset."""
        groups = {group for group in self._uses.get(name, ()) if os.path.isdir(self._groups + group)}
        self._uses[name] = groups
        return groups

    def _remove(self, name):
        data_class, _, digest = name.partition("/")
        for prefix in ("", FILLING):
            path = os.path.join(self.root, data_class, prefix + digest)
            hidden = os.path.join(self.root, data_class, REMOVING + prefix + digest)
            if os.path.isdir(path):
                os.rename(path, hidden)
                delete(hidden)


def view_name(group):
    """Return the name of a job's folder."""
    return hashlib.sha256(group.encode()).hexdigest()[:32]


def delete(folder):
    """Remove a folder. rm needs no recursion for a user's deep folders, follows no link and leaves mounts alone; what stays is tried again later."""
    subprocess.run(["rm", "-rf", "--one-file-system", "--", folder], check=False)


def folder_bytes(folder):
    """Return the bytes of the files below a folder."""
    return sum(os.lstat(os.path.join(base, name)).st_size for base, _, names in os.walk(folder) for name in names)
