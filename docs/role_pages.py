"""docs/reference/roles.md: every Ansible role, where site.yml uses it, and every variable, from the roles' own specifications."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from landbridge import yaml_text

ANSIBLE = Path(__file__).resolve().parents[1] / "ansible"
HEAD = """# Roles

Every role works without Landbridge: its variables are below and in its README, and `ansible-galaxy` or `roles_path` is all it needs.
With Landbridge the inventory plugin decides the variables from the environment file. A host gets the roles of the groups that it is
in (`ansible/site.yml`, in this order for the roles that it names); `--limit` takes some hosts, `--tags` some parts.
"""


def page() -> str:
    """The whole page."""
    plays = dict(_plays())
    names = [path.parent.parent.name for path in sorted(ANSIBLE.glob("roles/*/meta/argument_specs.yml"))]
    lines = [HEAD, "| role | what | groups in site.yml | tags |", "| --- | --- | --- | --- |"]
    for name in names:
        groups, tags = plays.get(name, ((), ()))
        specs = _load(ANSIBLE / f"roles/{name}/meta/argument_specs.yml")["argument_specs"]
        what = _cell(specs["main"]["short_description"])
        lines.append(f"| [{name}](#{name}) | {what} | {_quoted(groups)} | {_quoted(tags)} |")
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


def _plays() -> Iterator[tuple[str, tuple[tuple[str, ...], tuple[str, ...]]]]:
    """(role, (groups, tags)) as site.yml uses it; a role that it uses in several plays counts for all of them."""
    found: dict[str, tuple[list[str], list[str]]] = {}
    for play in _load(ANSIBLE / "site.yml"):
        for task in _tasks(play):
            role = (task.get("ansible.builtin.include_role") or task.get("ansible.builtin.import_role") or {}).get(
                "name"
            )
            if role is None:
                continue
            groups, tags = found.setdefault(role, ([], []))
            groups += [play["hosts"]] if play["hosts"] not in groups else []
            tags += [tag for tag in play.get("tags", []) if tag not in tags]
    for role, (groups, tags) in found.items():
        yield role, (tuple(groups), tuple(tags))


def _tasks(play: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    pending = [*play.get("tasks", []), *play.get("pre_tasks", []), *play.get("post_tasks", [])]
    pending += [
        {
            "ansible.builtin.include_role": {"name": role.get("role", role.get("name"))}
            if isinstance(role, dict)
            else {"name": role}
        }
        for role in play.get("roles", [])
    ]
    while pending:
        task = pending.pop()
        pending += [*task.get("block", []), *task.get("rescue", []), *task.get("always", [])]
        yield task


def _load(path: Path) -> Any:
    return yaml_text.load(path.read_text())


def _cell(text: object) -> str:
    return " ".join(str(text).split()).replace("|", "\\|")


def _quoted(words: tuple[str, ...]) -> str:
    return ", ".join(f"`{word}`" for word in words)
