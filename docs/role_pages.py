"""docs/reference/roles.md: every Ansible role, where site.yml uses it, and every variable, from the roles' own specifications."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from landbridge import yaml_text

ANSIBLE = Path(__file__).resolve().parents[1] / "ansible"
HEAD = """# Roles

Every role works without Landbridge: its variables are below and in its README, and `ansible-galaxy` or `roles_path` is all it needs.
With Landbridge the inventory plugin decides the variables from the environment file. A host gets the roles of the groups that it is
in (`ansible/site.yml`, in this order for the roles that it names); `--limit` takes some hosts, `--tags` some parts.
"""


_GROUP = re.compile(r"'(\w+)' in group_names")


@dataclass(frozen=True)
class Use:
    """Whose hosts get a role, and with which tags it can be asked for."""

    groups: tuple[str, ...]
    tags: tuple[str, ...]


def page() -> str:
    """The whole page."""
    plays = uses()
    names = [path.parent.parent.name for path in sorted(ANSIBLE.glob("roles/*/meta/argument_specs.yml"))]
    lines = [HEAD, "| role | what | groups in site.yml | tags |", "| --- | --- | --- | --- |"]
    for name in names:
        use = plays.get(name, Use((), ()))
        specs = _load(ANSIBLE / f"roles/{name}/meta/argument_specs.yml")["argument_specs"]
        what = _cell(specs["main"]["short_description"])
        lines.append(f"| [{name}](#{name}) | {what} | {_quoted(use.groups)} | {_quoted(use.tags)} |")
    for name in names:
        lines += _role(name)
    return "\n".join(lines) + "\n"


def _role(name: str) -> Iterator[str]:
    folder = ANSIBLE / "roles" / name
    specs = _load(folder / "meta/argument_specs.yml")["argument_specs"]
    file = folder / "defaults/main.yml"
    defaults = (_load(file) or {}) if file.is_file() else {}
    for entry, spec in specs.items():
        title = name if entry == "main" else f"{name}, tasks_from: {entry}"
        yield from ("", f"## {title}", "", f"{spec['short_description'].rstrip('.')}.")
        if entry == "main":
            yield from ("", f"[README](../../ansible/roles/{name}/README.md)")
        rows = list(_rows(spec.get("options") or {}, "", defaults))
        if rows:
            yield from ("", "| variable | type | default | |", "| --- | --- | --- | --- |", *rows)


def _rows(options: Mapping[str, Any], path: str, defaults: Mapping[str, Any]) -> Iterator[str]:
    """One row a variable; the keys of a dictionary follow it as `variable.key`, those of a list's items as `variable[].key`."""
    for name, option in options.items():
        kind = option.get("type", "str") + (f" of {option['elements']}" if "elements" in option else "")
        if "choices" in option:
            kind = ", ".join(f"`{choice}`" for choice in option["choices"])
        words = option["description"] + (" Secret." if option.get("no_log") else "")
        yield f"| `{path}{name}` | {_cell(kind)} | {_default(name, option, defaults)} | {_cell(words)} |"
        inner = f"{path}{name}[]." if option.get("type") == "list" else f"{path}{name}."
        yield from _rows(option.get("options") or {}, inner, {})


def _default(name: str, option: Mapping[str, Any], defaults: Mapping[str, Any]) -> str:
    if option.get("required"):
        return "**required**"
    value = defaults.get(name, option.get("default"))
    if value is None:
        return ""
    if value in ("", [], {}):
        return "empty"
    shown = str(value).lower() if isinstance(value, bool) else str(value)
    # The role's own file is the place to read what is long.
    return f"`{_cell(shown)}`" if len(shown) <= 60 else "see its defaults"


def uses() -> Mapping[str, Use]:
    """How site.yml uses each role; one that it uses in several places counts for all of them."""
    found: dict[str, Use] = {}
    for play in _load(ANSIBLE / "site.yml"):
        of_play = Use((play["hosts"],), tuple(play.get("tags", ())))
        for role, use in _roles(play["tasks"], of_play):
            known = found.get(role, Use((), ()))
            found[role] = Use(_joined(known.groups, use.groups), _joined(known.tags, use.tags))
    return found


def _roles(tasks: Sequence[Mapping[str, Any]], around: Use) -> Iterator[tuple[str, Use]]:
    for task in tasks:
        groups = tuple(_GROUP.findall(str(task.get("when", "")))) or around.groups
        here = Use(groups, _joined(around.tags, task.get("tags", ())))
        if "block" in task:
            yield from _roles(task["block"], here)
        elif "ansible.builtin.include_role" in task:
            yield task["ansible.builtin.include_role"]["name"], here


def _joined(one: Sequence[str], other: Sequence[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*one, *other)))


def _load(path: Path) -> Any:
    return yaml_text.load(path.read_text())


def _cell(text: object) -> str:
    return " ".join(str(text).split()).replace("|", "\\|")


def _quoted(words: tuple[str, ...]) -> str:
    return ", ".join(f"`{word}`" for word in words)
