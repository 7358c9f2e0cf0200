"""Write the pages of docs/reference that follow from the code, and rules' examples.

`python docs/generate.py [--check] [NAME.md ...]`
"""

import sys
import types
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, Union, get_args, get_origin

import click
import typer.main
from pydantic import BaseModel
from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "docs")]
REFERENCE = ROOT / "docs" / "reference"
NOTE = "<!-- Made by docs/generate.py from the code; edit the code. -->\n"
#: Filled at load from the file's name and its `aws:region`; not keys of the file.
NOT_KEYS = {"name", "region"}


def environment_page() -> str:
    """Every key of an environment file, section by section, in the order in which the file is read."""
    from landbridge.environment import Environment

    lines = [
        NOTE,
        "# The environment file",
        "",
        "`stacks/Pulumi.<env>.yaml` is a Pulumi stack's configuration: `aws:region`, `landbridge:environment` with the keys below, and",
        "`secure:` values. Unknown keys are errors. A key without a default is required.",
    ]
    for path, model in _sections(Environment, ""):
        lines += ["", f"## {path or 'landbridge:environment'}", "", _first_paragraph(model.__doc__), ""]
        lines += ["| key | type | default | |", "| --- | --- | --- | --- |"]
        for name, field in model.model_fields.items():
            if model is Environment and name in NOT_KEYS:
                continue
            cells = (f"`{name}`", _type(field), _default(field), field.description or "")
            lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    return "\n".join(lines) + "\n"


def commands_page() -> str:
    """Every command with its arguments and options."""
    from landbridge.cli.main import build

    lines = [NOTE, "# Commands"]
    for path, found in _commands(typer.main.get_command(build()), "landbridge"):
        lines += ["", f"## {path}", "", _first_paragraph(found.help)]
        rows = [
            parameter
            for parameter in found.params
            if parameter.name != "help" and not getattr(parameter, "hidden", False)
        ]
        if rows:
            lines += ["", "| | |", "| --- | --- |"]
        for parameter in rows:
            names = ", ".join(f"`{name}`" for name in (*parameter.opts, *parameter.secondary_opts))
            lines.append(f"| {names} | {(getattr(parameter, 'help', None) or '').replace('|', chr(92) + '|')} |")
    return "\n".join(lines) + "\n"


def _sections(
    model: type[BaseModel], path: str, seen: frozenset[type] = frozenset()
) -> Iterator[tuple[str, type[BaseModel]]]:
    yield path, model
    for name, field in model.model_fields.items():
        for inner, suffix in _models(field.annotation):
            if inner not in seen:
                yield from _sections(inner, f"{path}.{name}{suffix}".strip("."), seen | {model})


def _models(annotation: Any, suffix: str = "") -> Iterator[tuple[type[BaseModel], str]]:
    """Models inside an annotation, each with the form of its keys: `[]` of a list, `.<name>` of a mapping."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        kind = annotation.model_fields.get("kind")
        variants = get_args(kind.annotation) if kind else ()
        yield annotation, suffix + (f" (kind: {variants[0]})" if variants else "")
        return
    origin, parts = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        yield from _models(parts[0], suffix)
    elif origin is tuple:
        yield from _models(parts[0], f"{suffix}[]")
    elif origin in (Mapping, dict) or (origin is not None and getattr(origin, "__name__", "") == "Mapping"):
        yield from _models(parts[1], f"{suffix}.<name>")
    elif origin in (Union, types.UnionType):
        for part in parts:
            yield from _models(part, suffix)


def _type(field: FieldInfo) -> str:
    return _name(field.annotation)


def _name(annotation: Any) -> str:
    origin, parts = get_origin(annotation), get_args(annotation)
    if annotation is type(None):
        return "null"
    if origin is Annotated:
        return _name(parts[0])
    if origin is Literal:
        return ", ".join(f"`{part}`" for part in parts)
    if origin is tuple:
        return f"list of {_name(parts[0])}"
    if origin in (Union, types.UnionType):
        return " or ".join(dict.fromkeys(_name(part) for part in parts if part is not type(None)))
    if origin is not None:
        return f"mapping to {_name(parts[1])}"
    if issubclass(annotation, BaseModel):
        return "section"
    return {
        "str": "text",
        "int": "number",
        "float": "number",
        "bool": "true or false",
        "IPv4Network": "CIDR",
        "IPv4Address": "address",
    }.get(annotation.__name__, annotation.__name__)


def _default(field: FieldInfo) -> str:
    value = field.get_default(call_default_factory=True)
    if value is PydanticUndefined:
        return "**required**"
    if isinstance(value, BaseModel):
        return "its defaults"
    if value is None:
        return "none"
    if value in ((), {}):
        return "empty"
    if isinstance(value, tuple):
        return ", ".join(f"`{item.kind}`" if hasattr(item, "kind") else f"`{item}`" for item in value)
    if isinstance(value, Mapping):
        return ", ".join(f"`{key}`" for key in value)
    return f"`{str(value).lower() if isinstance(value, bool) else value}`"


def _commands(command: click.Command, path: str) -> Iterator[tuple[str, click.Command]]:
    if not hasattr(command, "list_commands"):
        yield path, command
        return
    context = click.Context(command, info_name=path)
    for name in command.list_commands(context):
        inner = command.get_command(context, name)
        if inner is not None:
            yield from _commands(inner, f"{path} {name}")


def _first_paragraph(text: str | None) -> str:
    return " ".join((text or "").strip().split("\n\n")[0].split())


def mistakes_page() -> str:
    """Mistakes that the tests make, with the message for each."""
    import mistakes

    return mistakes.page()


def examples_file() -> str:
    """Texts of `landbridge explain` for each rule."""
    import mistakes

    return mistakes.examples()


def catalogue_page() -> str:
    """Facts about AWS with their sources, and differences from other sources."""
    import catalogue

    return f"{NOTE}{catalogue.page()}"


def components_page() -> str:
    """Components of the AWS site, and the policies."""
    import component_pages

    return f"{NOTE}{component_pages.page(_type, _default)}"


def roles_page() -> str:
    """Every Ansible role with its variables."""
    import role_pages

    return f"{NOTE}{role_pages.page()}"


def role_readmes() -> Mapping[Path, Callable[[], str]]:
    """Return the READMEs of Ansible roles, whose tables of variables are made."""
    import role_pages

    return role_pages.readmes()


def architecture_page() -> str:
    """The architecture, with its layers as the import contracts have them."""
    import layers

    return layers.page()


def complaints_page() -> str:
    """Complaints of users of other kits, and the tests for them."""
    import complaint_pages

    return f"{NOTE}{complaint_pages.page()}"


def resources_page() -> str:
    """Return the page of AWS resource types."""
    import resource_pages

    return f"{NOTE}{resource_pages.page()}"


PAGES = {
    REFERENCE / "environment.md": environment_page,
    REFERENCE / "commands.md": commands_page,
    REFERENCE / "catalogue.md": catalogue_page,
    REFERENCE / "components.md": components_page,
    REFERENCE / "roles.md": roles_page,
    REFERENCE / "complaints.md": complaints_page,
    REFERENCE / "aws-resources.md": resources_page,
    REFERENCE / "mistakes.md": mistakes_page,
    ROOT / "docs" / "explanation" / "architecture.md": architecture_page,
    ROOT / "landbridge" / "rules" / "examples.json": examples_file,
}


def main(argv: list[str]) -> int:
    """Write the pages; with --check only say, and return 1, when one is stale."""
    stale = []
    selected = {name for name in argv if not name.startswith("-")}
    for path, make in {**PAGES, **role_readmes()}.items():
        if selected and path.name not in selected:
            continue
        text = make()
        if path.is_file() and path.read_text() == text:
            continue
        stale.append(str(path.relative_to(ROOT)))
        if "--check" not in argv:
            path.write_text(text)
            print(f"wrote {path}")
    if stale and "--check" in argv:
        print(f"stale: {', '.join(stale)}; run docs/generate.py", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
