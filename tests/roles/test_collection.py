"""The roles as a collection: content of the archive, and the page that lists them."""

import re
import subprocess
import sys
import tarfile
import tomllib
from pathlib import Path

import pytest

from landbridge import yaml_text

ROOT = Path(__file__).parents[2]
ANSIBLE = ROOT / "ansible"
PAGE = (ROOT / "docs/how-to/use-single-roles.md").read_text()
ROLES = sorted(path.name for path in (ANSIBLE / "roles").iterdir() if path.is_dir())


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tarfile.TarInfo]:
    folder = tmp_path_factory.mktemp("archive")
    program = Path(sys.executable).with_name("ansible-galaxy")
    line = [str(program), "collection", "build", str(ANSIBLE), "--output-path", str(folder)]
    done = subprocess.run(line, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    (path,) = folder.glob("landbridge-cluster-*.tar.gz")
    with tarfile.open(path) as opened:
        return {member.name: member for member in opened.getmembers()}


def test_the_archive_has_the_tracked_files_of_roles_and_plugins_and_no_others(
    archive: dict[str, tarfile.TarInfo],
) -> None:
    listed = subprocess.run(["git", "ls-files"], cwd=ANSIBLE, capture_output=True, text=True, check=True).stdout.split()
    parts = ("roles/", "plugins/", "meta/", "README.md")
    tracked = {name for name in listed if name.startswith(parts) and (ANSIBLE / name).exists()}
    files = {name for name, member in archive.items() if not member.isdir()} - {"MANIFEST.json", "FILES.json"}
    assert files == tracked


def test_every_module_of_a_role_is_a_module_of_the_collection() -> None:
    modules = {path.name: path.resolve() for path in ANSIBLE.glob("roles/*/library/*.py")}
    links = {path.name: path.resolve() for path in (ANSIBLE / "plugins/modules").iterdir() if path.suffix == ".py"}
    assert links == modules


def test_the_collection_has_the_version_of_the_package() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert yaml_text.load((ANSIBLE / "galaxy.yml").read_text())["version"] == project["version"]
    assert f"landbridge-cluster-{project['version']}.tar.gz" in PAGE


def test_the_page_lists_every_role_with_the_variables_that_it_requires() -> None:
    table = PAGE[PAGE.index("| role | use | required |") : PAGE.index("## Files that a role shares")]
    rows = [row.strip("| ").split(" | ") for row in table.splitlines()[2:] if row.startswith("|")]
    required = {name: row[2] if len(row) > 2 else "" for row in rows for name in row[0].split(", ")}
    assert sorted(required) == ROLES
    for role in ROLES:
        specs = yaml_text.load((ANSIBLE / f"roles/{role}/meta/argument_specs.yml").read_text())["argument_specs"]
        wanted = {name for name, option in (specs["main"].get("options") or {}).items() if option.get("required")}
        assert wanted <= set(re.findall(r"`(\w+)`", required[role])), role
