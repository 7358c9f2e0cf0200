"""Table of the names that belong to each role: complete, and with every path that a role's tasks write."""

import re
from collections.abc import Iterator
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import pytest

from landbridge import yaml_text
from tests.roles.names_of_roles import merged, names

ROOT = Path(__file__).parents[2]
ROLES = ROOT / "ansible/roles"
NAMES = sorted(path.name for path in ROLES.iterdir() if path.is_dir())
KINDS = {
    "files",
    "shared",
    "units",
    "packages",
    "accounts",
    "accounts shared",
    "network",
    "tables",
    "includes",
    "held",
    "ends",
    "stays",
}
#: Modules that write the file at `dest` or `path`.
WRITERS = ("copy", "template", "lineinfile", "blockinfile", "get_url", "replace")


def written(tasks: Any) -> Iterator[str]:
    """Yield the paths below /etc, /opt and /usr that tasks write; each expression of Jinja is a star."""
    for task in tasks or []:
        for part in ("block", "rescue", "always"):
            yield from written(task.get(part))
        for module in WRITERS:
            arguments = task.get(f"ansible.builtin.{module}")
            if arguments is None or "delegate_to" in task or arguments.get("state") == "absent":
                continue
            target = str(arguments.get("dest") or arguments.get("path"))
            targets = [target]
            if "item" in target and isinstance(task.get("loop"), list):
                targets = [expanded(target, item) for item in task["loop"]]
            for path in targets:
                starred = re.sub(r"{{.*?}}", "*", path)
                # A name that is a variable as a whole is known on a machine only: tests/roles/hosts/test_foreign_machine.py.
                if re.match(r"/(etc|opt|usr)/[^*]", starred) and not re.search(r"/\*(\.\w+)?$", starred):
                    yield starred


def expanded(target: str, item: Any) -> str:
    """Return a path with the item of a loop."""
    values = {f"item.{key}": value for key, value in item.items()} if isinstance(item, dict) else {"item": item}
    return re.sub(r"{{ (item[.\w]*)(?: \| \w+)? }}", lambda match: str(values.get(match[1], match[0])), target)


def test_every_role_has_a_row_of_known_kinds() -> None:
    table = names()
    assert sorted(table) == NAMES
    for role, mine in table.items():
        assert set(mine) <= KINDS, role
        assert set(mine.get("includes", [])) <= set(NAMES), role


@pytest.mark.parametrize("role", NAMES)
def test_a_role_writes_only_files_of_its_names(role: str) -> None:
    mine = merged(role)
    patterns = [*mine.get("files", []), *mine.get("shared", [])]
    paths = {
        path for file in (ROLES / role / "tasks").glob("*.yml") for path in written(yaml_text.load(file.read_text()))
    }
    # A star of a path stands for one name: the pattern must permit any.
    missing = {path for path in paths if not any(fnmatchcase(path.replace("*", "x"), p) or path == p for p in patterns)}
    assert missing == set()
