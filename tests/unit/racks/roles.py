"""Roles of each host, as ansible/site.yml includes them with the plan's variables: its conditions are evaluated here,
without Ansible and without facts of hosts.
"""

from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import yaml
from jinja2 import StrictUndefined
from jinja2.nativetypes import NativeEnvironment

ANSIBLE = Path(__file__).resolve().parents[3] / "ansible"
_JINJA = NativeEnvironment(undefined=StrictUndefined)
#: Facts that roles set during a run, as on a new host, and the options of a whole run.
_FACTS = {"tuning_restart_due": False, "node_restart_slurmd": False, "node_restart_own": False, "ansible_skip_tags": ()}
_INCLUDES = ("include_role", "import_role")


def host_variables(inventory: Mapping[str, Any], host: str) -> dict[str, Any]:
    """Return all variables of a host, those of its groups included."""
    groups = [name for name in inventory if host in inventory[name].get("hosts", ())]
    variables = dict(inventory["all"]["vars"])
    for name in groups:
        variables |= inventory[name].get("vars", {})
    members = {name: list(group.get("hosts", ())) for name, group in inventory.items() if name != "_meta"}
    hostvars = inventory["_meta"]["hostvars"].get(host, {})
    return {**_FACTS, **variables, **hostvars, "group_names": groups, "groups": members, "inventory_hostname": host}


def roles_of(inventory: Mapping[str, Any], host: str) -> list[str]:
    """Return the roles of a host, in the order of site.yml; a role whose tasks_from is included as `role/tasks`."""
    variables = host_variables(inventory, host)
    roles: list[str] = []
    for play in _site():
        if _is_in(play["hosts"], variables):
            roles += [role for role in _included(play.get("tasks", ()), variables) if role not in roles]
    return roles


def role_value(role: str, name: str, variables: Mapping[str, Any]) -> Any:
    """Return a variable of a role, from its defaults and vars."""
    values: dict[str, Any] = {}
    for folder in ("defaults", "vars"):
        path = ANSIBLE / "roles" / role / folder / "main.yml"
        if path.exists():
            values |= yaml.safe_load(path.read_text()) or {}
    given = {**values, **variables, **{key: values[key] for key in (name,) if key in values}}
    return _JINJA.from_string(str(given[name])).render(given)


@cache
def _site() -> list[dict[str, Any]]:
    return list(_plays(ANSIBLE / "site.yml"))


def _plays(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the plays of a playbook and of those that it imports."""
    for play in yaml.safe_load(path.read_text()):
        imported = play.get("ansible.builtin.import_playbook")
        yield from _plays(path.parent / imported) if imported else (play,)


def _is_in(pattern: str, variables: Mapping[str, Any]) -> bool:
    names, _, excluded = pattern.partition(":!")
    groups = variables["group_names"]
    return (names == "all" or names in groups) and excluded not in groups


def _included(tasks: Any, variables: Mapping[str, Any]) -> Iterator[str]:
    for task in tasks:
        if not holds(task.get("when", True), variables):
            continue
        yield from _included(task.get("block", ()), variables)
        for key, value in task.items():
            if key.rpartition(".")[2] in _INCLUDES:
                tasks_from = value.get("tasks_from", "").removesuffix(".yml")
                yield value["name"].rpartition(".")[2] + (f"/{tasks_from}" if tasks_from else "")


def holds(condition: Any, variables: Mapping[str, Any]) -> bool:
    """Return whether a condition of a task, or every one of a list, is true."""
    conditions = condition if isinstance(condition, list) else [condition]
    return all(
        bool(_JINJA.compile_expression(text, undefined_to_none=False)(**variables)) if isinstance(text, str) else text
        for text in conditions
    )
