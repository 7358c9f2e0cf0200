"""Compute which files, units and nftables tables a host has from the roles that the site's playbooks include on it.

The conditions are those of the playbooks, read from their files and evaluated by Ansible with the inventory's variables of the host. They do not
depend on what a run visits, so that a run with tags or a limit has the same answer as a whole one.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Any

Table = Mapping[str, Mapping[str, Any]]
Tasks = Sequence[Mapping[str, Any]]
#: Text before the star of a pattern that reaches Landbridge's own files only.
_OWN = re.compile(
    r"/etc/landbridge/|/opt/landbridge/|/landbridge[-.]|/etc/hardening/|/hardening-|/site-gateway|/etc/object-store/"
)
#: Folders whose files stay: packages stay, and so do their repositories.
_PACKAGES = ("/etc/apt/", "/usr/lib/", "/usr/share/")
#: Folders in which a pattern with a star names data.
_DATA = ("/var/", "/srv/")


def wanted_roles(plays: Tasks, read: Callable[[str], Tasks], table: Table) -> str:
    """Return the Jinja expression of the list of a host's roles. `read` returns the tasks of a file that a play includes.

    A role without names in the table, or included by one of its other task files only (`tasks_from`), is not in the list. Roles that a host does
    not have are empty texts.
    """
    rows = []
    for play in plays:
        place = _place(str(play["hosts"]))
        for role, conditions in _includes(play["tasks"], read):
            if table[role]:
                rows.append(f"{role!r} if {' and '.join(f'({text})' for text in (place, *conditions))} else ''")
    return f"[{', '.join(rows)}]"


def owned_names(table: Table, roles: Iterable[str], exact: Mapping[str, Sequence[str]]) -> dict[str, Any]:
    """Return the names of a host with these roles: `files` and `tables`, `ends` (file -> unit that ends with it), and other `units`.

    `exact`: pattern or file of the table -> names that the plan has for it on this host.
    """
    files: set[str] = set()
    rows = [table[role] for role in _with_included(table, roles)]
    for row in rows:
        for name in row.get("files", ()):
            if name in exact:
                files |= set(exact[name])
            elif _is_removable(name) and not any(_names_any(pattern, [name]) for pattern in row.get("stays", ())):
                files.add(name)
    ends = {file: unit for row in rows for file, unit in row.get("ends", {}).items() if file in files}
    tables = {table for row in rows for table in row.get("tables", ())}
    units = {
        unit for row in rows for unit in row.get("units", ()) if not _names_any(unit, row.get("ends", {}).values())
    }
    return {"files": sorted(files), "ends": ends, "tables": sorted(tables), "units": sorted(units)}


def _place(pattern: str) -> str:
    """Return the condition of a play's hosts, such as `slurm_login:!nfs_server`."""
    parts = [part for part in pattern.split(":") if part != "all"]
    words = [f"'{part.lstrip('!')}' {'not in' if part.startswith('!') else 'in'} group_names" for part in parts]
    return " and ".join(words) or "true"


def _includes(
    tasks: Tasks, read: Callable[[str], Tasks], above: tuple[str, ...] = ()
) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield each role that is included as a whole, with its conditions."""
    for task in tasks:
        condition = task.get("when", [])
        conditions = (*above, *map(str, condition if isinstance(condition, list) else [condition]))
        if "block" in task:
            yield from _includes(task["block"], read, conditions)
        elif "ansible.builtin.include_tasks" in task:
            yield from _includes(read(task["ansible.builtin.include_tasks"]), read, conditions)
        elif "tasks_from" not in task.get("ansible.builtin.include_role", {"tasks_from": ""}):
            yield task["ansible.builtin.include_role"]["name"], conditions


def _with_included(table: Table, roles: Iterable[str]) -> set[str]:
    """Return the roles, with those that they include."""
    included: set[str] = set()
    pending = [role for role in roles if role]
    while pending:
        role = pending.pop()
        if role not in included:
            included.add(role)
            pending += table[role].get("includes", ())
    return included


def _names_any(pattern: str, names: Iterable[str]) -> bool:
    return any(fnmatchcase(name, pattern) for name in names)


def _is_removable(name: str) -> bool:
    before, star, _ = name.partition("*")
    if name.startswith(_PACKAGES):
        return False
    return not star or (bool(_OWN.search(before)) and not name.startswith(_DATA))
