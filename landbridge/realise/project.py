"""Pulumi project outside the source tree: it runs the program of the tree, and Pulumi's files stay out of the tree.

Pulumi appends lines to the stack file (such as a salt) and reformats values. Environment files are reviewed, so Pulumi
gets a copy, and its appended lines are kept from one run to the next.
"""

import shutil
import sys
from pathlib import Path

from landbridge import yaml_text
from landbridge.environment import lock_path
from landbridge.findings import Finding, FindingsError
from landbridge.paths import state_dir

#: Prefixes of the lines that Pulumi appends to a stack file.
_APPENDED = ("encryptionsalt:", "secretsprovider:", "encryptedkey:")


def project_root(environment_file: Path) -> Path:
    """Return the folder of the nearest Pulumi.yaml, upward from the environment file, then from the working directory."""
    for start in (environment_file.resolve().parent, Path.cwd()):
        for folder in (start, *start.parents):
            if (folder / "Pulumi.yaml").is_file():
                return folder
    raise FindingsError(
        [
            Finding(
                rule="no-project",
                message=f"no Pulumi.yaml above {environment_file}",
                fix="run this in a checkout of Landbridge or of a fork",
            )
        ]
    )


def write_project(environment: str, environment_file: Path, stack: str | None = None) -> Path:
    """Create or update the project's folder for one environment, and return it.

    It contains the copy of the environment file for one stack, by default the stack with the environment's name.
    """
    root = project_root(environment_file)
    folder = state_dir(environment) / "project"
    folder.mkdir(mode=0o700, exist_ok=True)
    (folder / "Pulumi.yaml").write_text(
        # The name of the fork's project: `pulumi` run there by hand sees the same stacks.
        f"name: {_quoted(_name(root))}\n"
        f"main: {_quoted(root / 'stacks')}\n"
        "runtime:\n"
        "  name: python\n"
        f"  options: {{toolchain: pip, virtualenv: {_quoted(Path(sys.prefix))}}}\n"
    )
    copy = folder / f"Pulumi.{stack or environment}.yaml"
    appended = _appended(copy)
    shutil.copyfile(environment_file, copy)
    lock = lock_path(environment_file)
    if lock.is_file():
        shutil.copyfile(lock, folder / f"images.{environment}.lock")
    else:
        (folder / f"images.{environment}.lock").unlink(missing_ok=True)
    missing = [line for key, line in appended.items() if key not in _appended(copy)]
    if missing:
        with copy.open("a") as file:
            file.write("\n" + "".join(f"{line}\n" for line in missing))
    return folder


def _appended(file: Path) -> dict[str, str]:
    if not file.is_file():
        return {}
    lines = file.read_text().splitlines()
    return {key: line for line in lines for key in _APPENDED if line.startswith(key)}


def _name(root: Path) -> str:
    project = yaml_text.load((root / "Pulumi.yaml").read_text())
    return str(project["name"]) if isinstance(project, dict) and "name" in project else "landbridge"


def _quoted(path: Path | str) -> str:
    return '"' + str(path).replace("\\", "\\\\").replace('"', '\\"') + '"'
