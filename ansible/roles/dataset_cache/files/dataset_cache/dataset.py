"""Staged dataset: its names, its manifest, and a checked copy of a file."""

import hashlib
import json
import os
import re

#: Files of a staged dataset with its manifest, and with its digest (landbridge.datasets).
MANIFEST, DESCRIPTION = ".landbridge-manifest.json", ".landbridge-dataset.json"
#: File that a complete copy has too.
CACHED = ".landbridge-cached.json"
REFERENCE = re.compile(r"([a-z0-9][a-z0-9._-]{0,62}):([A-Za-z0-9][A-Za-z0-9._-]{0,62})")
DIGEST = re.compile(r"[0-9a-f]{64}")
CHUNK = 4 << 20


class NotCached(Exception):
    """Error: the dataset is not cached and is read from the site's file system; the message has the reason."""


def checked_files(text, digest):
    """Return the files of a manifest. Raises NotCached if it is not that of the digest, or has a path that leaves the folder."""
    try:
        content = json.loads(text)["content"]
        canonical = json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()
        if hashlib.sha256(canonical).hexdigest() != digest:
            raise NotCached("the manifest does not match the digest of the dataset")
        files = [(f["path"], int(f["size"]), f["sha256"], f.get("executable") is True) for f in content["files"]]
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise NotCached(f"unreadable manifest: {error}") from None
    for path, _, _, _ in files:
        if not path or "\0" in path or any(part in ("", ".", "..") for part in path.split("/")):
            raise NotCached(f"path {path!r} leaves the folder")
    return files


def copy(files, folder, path, size, digest, executable):
    """Copy a file and compare its SHA-256; it has its name when it is complete. One that an earlier service has copied stays."""
    target = os.path.join(folder, path)
    try:
        if os.stat(target).st_size == size:
            return
    except FileNotFoundError:
        pass
    sha256, count, incoming = hashlib.sha256(), 0, f"{target}.{digest[:16]}.incoming"
    if len(os.path.basename(incoming).encode()) > 255:
        incoming = os.path.join(os.path.dirname(target), f".{hashlib.sha256(path.encode()).hexdigest()}")
    with files.open(path) as read, open(incoming, "wb") as write:
        while chunk := read.read(CHUNK):
            sha256.update(chunk)
            write.write(chunk)
            count += len(chunk)
    if count != size or sha256.hexdigest() != digest:
        os.unlink(incoming)
        raise NotCached(f"{path} does not match its SHA-256")
    os.chmod(incoming, 0o555 if executable else 0o444)
    os.rename(incoming, target)


def read(path):
    """Return the text of a file; empty without it."""
    try:
        with open(path, encoding="utf-8") as stream:
            return stream.read()
    except FileNotFoundError:
        return ""
