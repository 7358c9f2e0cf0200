"""Credential helper of IAM Roles Anywhere (aws_signing_helper), built once from its Go module, for all hosts.

The module's hash is that of the catalogue, and its own go.sum has the hashes of its dependencies. The program is linked
statically, so that it runs with any C library; keys in PKCS #11 tokens, which need shared libraries, do not work with
it. `python -m landbridge.realise.signing_helper` prints the program's path.
"""

import fcntl
import hashlib
import json
import os
import platform
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from landbridge.catalog.aws.signing_helper import SigningHelper, signing_helper
from landbridge.paths import cache_dir

PROGRAM = "aws_signing_helper"
_GO_FOLDERS = "/usr/local/go/bin:/usr/lib/go/bin:/usr/local/bin:/usr/bin"
_SECONDS = 1200
_OPTIONS = ("-mod=readonly", "-trimpath", "-tags", "netgo,osusergo")
_LINK_FLAGS = "-s -w -linkmode external -extldflags -static"


class HelperError(Exception):
    """Error: the helper cannot be built on this machine; the message has the reason and the fix."""


def program_path() -> Path:
    """Return the path of the helper for this machine's type in the cache; it may not exist."""
    facts = signing_helper()
    content = hashlib.sha256(" ".join((facts.sum, *_OPTIONS, _LINK_FLAGS)).encode()).hexdigest()[:12]
    return cache_dir("signing-helper") / f"{facts.version}-{content}-{platform.machine()}" / PROGRAM


def find_go() -> Path | None:
    """Return the Go command of this machine, or None."""
    command = shutil.which("go") or shutil.which("go", path=_GO_FOLDERS)
    return Path(command) if command else None


def build() -> Path:
    """Build the helper unless it is in the cache, and return its path. Raises HelperError."""
    path = program_path()
    if path.is_file():
        return path
    go = find_go()
    if go is None or shutil.which("gcc") is None:
        missing = "Go" if go is None else "gcc"
        facts = signing_helper()
        raise HelperError(
            f"{missing} is not installed, and {facts.module} {facts.version} is not built yet: install Go {facts.go} "
            "or newer and gcc, or give aws.iam.anywhere.helper (url, sha256) in the environment file"
        )
    path.parent.mkdir(parents=True, exist_ok=True)
    # Several hosts may request it at the same time.
    with _locked(path.parent / "lock"):
        if not path.is_file():
            _build(go, signing_helper(), path)
    return path


def _build(go: Path, facts: SigningHelper, path: Path) -> None:
    with tempfile.TemporaryDirectory(dir=path.parent, prefix="build.") as scratch:
        source = Path(scratch) / "source"
        shutil.copytree(_download(go, facts, Path(scratch)), source)
        source.chmod(0o755)
        target = Path(scratch) / PROGRAM
        flags = f"{_LINK_FLAGS} -X {facts.module}/cmd.Version={facts.version.removeprefix('v')}"
        command = [str(go), "build", *_OPTIONS, "-ldflags", flags, "-o", str(target), "."]
        _run(command, source, {"CGO_ENABLED": "1", "GOFLAGS": "-buildvcs=false"})
        target.chmod(0o755)
        target.replace(path)


def _download(go: Path, facts: SigningHelper, folder: Path) -> Path:
    """Return the folder of the module in Go's cache. Raises HelperError if its hash is not that of the catalogue."""
    command = [str(go), "mod", "download", "-json", f"{facts.module}@{facts.version}"]
    answer = json.loads(_run(command, folder, {"GOFLAGS": "-mod=mod"}))
    if answer.get("Sum") != facts.sum:
        raise HelperError(f"{facts.module} {facts.version} has the hash {answer.get('Sum')} instead of {facts.sum}")
    return Path(answer["Dir"])


def _run(command: list[str], folder: Path, variables: Mapping[str, str]) -> str:
    try:
        done = subprocess.run(
            command,
            cwd=folder,
            env={**os.environ, **variables},
            capture_output=True,
            text=True,
            timeout=_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise HelperError(f"{' '.join(command[:3])}: {error}") from error
    if done.returncode:
        lines = (done.stderr or done.stdout).strip().splitlines()[-5:]
        raise HelperError(f"{' '.join(command[:3])} failed: {' | '.join(lines)}")
    return done.stdout


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    with path.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def main() -> int:
    """Print the helper's path."""
    try:
        print(build())
    except HelperError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
