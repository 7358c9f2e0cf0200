"""Earlier state of an environment file: another file, or the file of a git revision."""

import subprocess
from pathlib import Path

from landbridge.findings import Finding, FindingsError


def base_text(base: str, path: Path) -> tuple[bytes | None, str]:
    """Return the text of the earlier file and its name: `base` is a file, else a git revision of `path`. The text is None
    if the revision does not have the file: the environment is new. Raises FindingsError for an unknown revision.
    """
    file = Path(base)
    if file.is_file():
        return file.read_bytes(), base
    folder = path.resolve().parent
    commit = _git(folder, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{base}^{{commit}}")
    if commit.returncode:
        message = f"{base} is neither a file nor a git revision in {folder}"
        raise FindingsError([Finding("no-base", message, fix="give --base FILE, or a branch, tag or commit")])
    shown = _git(folder, "show", f"{commit.stdout.decode().strip()}:./{path.resolve().name}")
    return (None if shown.returncode else shown.stdout), f"{base}:{path.name}"


def _git(folder: Path, *arguments: str) -> "subprocess.CompletedProcess[bytes]":
    try:
        return subprocess.run(["git", *arguments], cwd=folder, capture_output=True, timeout=60, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        message = f"git does not run: {error}"
        raise FindingsError([Finding("no-base", message, fix="install git, or give --base FILE")]) from None
