"""Page docs/reference/components.md: purpose, arguments and outputs of each component, from its class, plan and example."""

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

`landbridge up` creates all resources in these components. Each is a Pulumi component in [components/](../../components) that takes one
frozen plan and creates resources; all decisions are in the plan. `landbridge.plan.standalone` computes a plan from a few
values, with the same functions and defaults as for a whole environment, so that you can use each component in your own
Pulumi program. The tests run the examples below.

For programs in other languages, `pulumi package add` of this repository generates SDKs for {hosted}: the same components, planned from
plain values ([components/multilang](../../components/multilang)).

Every resource has the tags of its cluster, uses the provider that is passed to the component, and complies with the
[policies](../../landbridge/policy): `pulumi preview --policy-pack components/policy` checks them in any Pulumi program."""


def page(type_of: Callable[[FieldInfo], str], default_of: Callable[[FieldInfo], str]) -> str:
    """Return the page; the caller's functions format types and defaults."""
    import components
    from components import multilang

    parts = [_HEAD.format(hosted=", ".join(f"`{name}`" for name in multilang.classes()))]
    for name, component in components.classes().items():
        parts.append("\n".join(_component(name, component, type_of, default_of)))
    parts.append(_policies())
    return "\n\n".join(parts) + "\n"


def _component(
    name: str, component: type, type_of: Callable[[FieldInfo], str], default_of: Callable[[FieldInfo], str]
) -> Iterator[str]:
    yield f"## {name}\n"
    yield f"{_prose(inspect.getdoc(component) or '')}\n"
    plan = inspect.get_annotations(component.__init__)["args"]
    yield f"Plan `{plan.__name__}`: {_prose(inspect.getdoc(plan) or '')}\n"
    yield from ("| key | type | default | description |", "| --- | --- | --- | --- |")
    notes = _comments(plan)
    for key, field in plan.model_fields.items():
        cells = (f"`{key}`", _written(field, type_of), default_of(field), field.description or notes.get(key, ""))
        yield "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"
    needs = [
        key for key in inspect.signature(component.__init__).parameters if key not in ("self", "name", "args", "opts")
    ]
    gives = [
        key for base in reversed(component.__mro__) for key in vars(base).get("__annotations__", {}) if _own(base, key)
    ]
    if needs:
        yield f"\nFurther arguments: {', '.join(f'`{key}`' for key in needs)}."
    if gives:
        yield f"\nOutputs: {', '.join(f'`{key}`' for key in dict.fromkeys(gives))}."
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
    """Return the `#:` comments above a plan's fields, by field."""
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

    lines = ["## Policies\n", "| policy | level | requirement | source |", "| --- | --- | --- | --- |"]
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
