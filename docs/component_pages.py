"""docs/reference/components.md: purpose, arguments, requirements and outputs of each component, from its class, plan and example."""

import ast
import inspect
import re
import sys
import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path

from pydantic import BaseModel
from pydantic.fields import FieldInfo

ROOT = Path(__file__).resolve().parents[1]
_HEAD = """# Components

What `pulumi up` is made of. Each is a Pulumi component in [components/](../../components) that takes one frozen plan and makes
resources; it decides nothing. `landbridge.plan.standalone` makes a plan out of a few values, with the same functions and defaults as for a
whole environment, so that each can be used in a Pulumi program of your own: the examples below are run by the tests.

For programs in other languages, `pulumi package add` of this repository makes SDKs for {hosted}: the same components, planned from
plain values ([components/multilang](../../components/multilang)).

Every resource has the tags of its cluster, goes through the provider that it is given, and keeps the
[policies](../../landbridge/policy): `pulumi preview --policy-pack components/policy` holds any program to them."""


def page(type_of: Callable[[FieldInfo], str], default_of: Callable[[FieldInfo], str]) -> str:
    """The whole page; how types and defaults are written is the caller's."""
    import components
    from components import multilang

    parts = [_HEAD.format(hosted=", ".join(f"`{name}`" for name in multilang.classes()))]
    for name, component in components.classes().items():
        parts.append("\n".join(_component(name, component, type_of, default_of)))
    parts.append(_policies())
    return "\n\n".join(parts) + "\n"


def _component(
    name: str, found: type, type_of: Callable[[FieldInfo], str], default_of: Callable[[FieldInfo], str]
) -> Iterator[str]:
    yield f"## {name}\n"
    yield f"{_prose(inspect.getdoc(found) or '')}\n"
    plan = inspect.get_annotations(found.__init__)["args"]
    yield f"Takes `{plan.__name__}`: {_prose(inspect.getdoc(plan) or '')}\n"
    yield from ("| key | type | default | |", "| --- | --- | --- | --- |")
    notes = _comments(plan)
    for key, field in plan.model_fields.items():
        cells = (f"`{key}`", _written(field, type_of), default_of(field), field.description or notes.get(key, ""))
        yield "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"
    needs = [key for key in inspect.signature(found.__init__).parameters if key not in ("self", "name", "args", "opts")]
    gives = [
        key for base in reversed(found.__mro__) for key in vars(base).get("__annotations__", {}) if _own(base, key)
    ]
    if needs:
        yield f"\nNeeds: {', '.join(f'`{key}`' for key in needs)}."
    if gives:
        yield f"\nGives: {', '.join(f'`{key}`' for key in dict.fromkeys(gives))}."
    example = ROOT / "examples" / "components" / f"{_snake(name)}.py"
    if example.is_file():
        yield f"\n```python\n{example.read_text().strip()}\n```"


def _own(base: type, key: str) -> bool:
    return base.__module__.startswith("components") and not key.startswith("_")


def _written(field: FieldInfo, type_of: Callable[[FieldInfo], str]) -> str:
    try:
        return type_of(field)
    except (AttributeError, IndexError, TypeError):
        return "section"


def _comments(model: type[BaseModel]) -> dict[str, str]:
    """The `#:` lines above a plan's fields."""
    lines = textwrap.dedent(inspect.getsource(model)).splitlines()
    fields = {
        node.target.id: node.lineno
        for node in ast.parse("\n".join(lines)).body[0].body  # type: ignore[attr-defined]
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name)
    }
    comments = {}
    for key, number in fields.items():
        above, index = [], number - 2
        while index >= 0 and lines[index].strip().startswith("#:"):
            above.insert(0, lines[index].strip().removeprefix("#:").strip())
            index -= 1
        if above:
            comments[key] = " ".join(above)
    return comments


def _policies() -> str:
    from landbridge.policy import POLICIES

    lines = ["## Policies\n", "| policy | level | what holds | source |", "| --- | --- | --- | --- |"]
    for name, policy in sorted(POLICIES.items()):
        cells = (f"`{name}`", policy.level.value, policy.summary, policy.source)
        lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    return "\n".join(lines)


def _prose(text: str) -> str:
    return "\n\n".join(" ".join(part.split()) for part in text.split("\n\n"))


def _snake(name: str) -> str:
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower()


if __name__ == "__main__":
    sys.exit("run docs/generate.py")
