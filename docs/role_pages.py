"""Pages of Ansible roles, from each role's argument_specs.yml and defaults: docs/reference/roles.md and the roles' READMEs."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from landbridge import yaml_text

ANSIBLE = Path(__file__).resolve().parents[1] / "ansible"
HEAD = """# Roles

Every role also works [without Landbridge](../how-to/use-single-roles.md), by the collection `landbridge.cluster` or `roles_path`; its variables are below and in its README.
With Landbridge the inventory plugin sets the variables from the environment file. A host gets the roles of its groups, in the order of
`ansible/site.yml`. `--limit` selects hosts, `--tags` selects parts of the roles.
"""


TABLE_HEAD = "| variable | type | default | description |\n| --- | --- | --- | --- |"
README_START = "<!-- variables: made by docs/generate.py from meta/argument_specs.yml and defaults -->\n"
README_END = "<!-- /variables -->"

_GROUP = re.compile(r"'(\w+)' in group_names")


@dataclass(frozen=True)
class Use:
    """Groups whose hosts get a role, and the tags that select it."""

    groups: tuple[str, ...]
    tags: tuple[str, ...]


def page() -> str:
    """Return the page of all roles."""
    plays = uses()
    names = [path.parent.parent.name for path in sorted(ANSIBLE.glob("roles/*/meta/argument_specs.yml"))]
    lines = [HEAD, "| role | description | groups in site.yml | tags |", "| --- | --- | --- | --- |"]
    for name in names:
        use = plays.get(name, Use((), ()))
        specs = _load(ANSIBLE / f"roles/{name}/meta/argument_specs.yml")["argument_specs"]
        description = _cell(specs["main"]["short_description"])
        lines.append(f"| [{name}](#{name}) | {description} | {_quoted(use.groups)} | {_quoted(use.tags)} |")
    for name in names:
        lines += _role(name)
    return "\n".join(lines) + "\n"


def readmes() -> Mapping[Path, Callable[[], str]]:
    """Return the README of every role, with the function that generates its text."""
    return {path: partial(_readme, path) for path in sorted(ANSIBLE.glob("roles/*/README.md"))}


def _readme(path: Path) -> str:
    """Return a README with its table of variables replaced."""
    text = path.read_text()
    start, end = text.index(README_START) + len(README_START), text.index(README_END)
    specs, defaults = _specification(path.parent)
    lines: list[str] = []
    for entry, spec in specs.items():
        rows = list(_rows(spec.get("options") or {}, "", defaults))
        if rows:
            title = [f"With `tasks_from: {entry}`:", ""] if entry != "main" else []
            lines += ["", *title, TABLE_HEAD, *rows]
    return "\n".join([text[:start].rstrip(), *lines, "", text[end:]])


def _specification(folder: Path) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
    """Return the entry points and the defaults of a role."""
    file = folder / "defaults/main.yml"
    defaults = (_load(file) or {}) if file.is_file() else {}
    return _load(folder / "meta/argument_specs.yml")["argument_specs"], defaults


def _role(name: str) -> Iterator[str]:
    specs, defaults = _specification(ANSIBLE / "roles" / name)
    for entry, spec in specs.items():
        title = name if entry == "main" else f"{name}, tasks_from: {entry}"
        yield from ("", f"## {title}", "", f"{spec['short_description'].rstrip('.')}.")
        if entry == "main":
            yield from ("", f"[README](../../ansible/roles/{name}/README.md)")
        rows = list(_rows(spec.get("options") or {}, "", defaults))
        if rows:
            yield from ("", TABLE_HEAD, *rows)


def _rows(options: Mapping[str, Any], path: str, defaults: Mapping[str, Any]) -> Iterator[str]:
    """Yield one row for each variable; keys follow it, of a dictionary as `variable.key`, of a list as `variable[].key`."""
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
    # A long value is not repeated in the page.
    return f"`{_cell(shown)}`" if len(shown) <= 60 else "see its defaults"


def uses() -> Mapping[str, Use]:
    """Return the groups and tags of each role in site.yml, merged over all its uses."""
    uses: dict[str, Use] = {}
    for play in _plays(ANSIBLE / "site.yml"):
        of_play = Use((play["hosts"],), tuple(play.get("tags", ())))
        for role, use in _roles(play["tasks"], of_play):
            known = uses.get(role, Use((), ()))
            uses[role] = Use(_joined(known.groups, use.groups), _joined(known.tags, use.tags))
    return uses


def _plays(path: Path) -> Iterator[Mapping[str, Any]]:
    """Yield the plays of a playbook and of those that it imports."""
    for play in _load(path):
        imported = play.get("ansible.builtin.import_playbook")
        yield from _plays(path.parent / imported) if imported else (play,)


def _roles(tasks: Sequence[Mapping[str, Any]], around: Use) -> Iterator[tuple[str, Use]]:
    for task in tasks:
        groups = tuple(_GROUP.findall(str(task.get("when", "")))) or around.groups
        use = Use(groups, _joined(around.tags, task.get("tags", ())))
        if "block" in task:
            yield from _roles(task["block"], use)
        elif "ansible.builtin.include_role" in task:
            yield task["ansible.builtin.include_role"]["name"], use


def _joined(first: Sequence[str], second: Sequence[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*first, *second)))


def _load(path: Path) -> Any:
    return yaml_text.load(path.read_text())


def _cell(text: object) -> str:
    return " ".join(str(text).split()).replace("|", "\\|")


def _quoted(words: tuple[str, ...]) -> str:
    return ", ".join(f"`{word}`" for word in words)
