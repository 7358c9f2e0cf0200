"""Independence of roles: a role reads only its own variables and those of roles that it includes."""

import re
from pathlib import Path

import pytest

from landbridge import yaml_text

ROLES = Path(__file__).parents[2] / "ansible/roles"
NAMES = sorted((path.name for path in ROLES.iterdir() if path.is_dir()), key=len, reverse=True)
_VARIABLE = re.compile(r"(?<![\w./'\"-])([a-z][a-z0-9]*(?:_[a-z0-9]+)+)(?![\w/(])(?!\s*\|\s*default\()")


def owner(variable: str) -> str | None:
    """Return the role of a variable: the longest role name with which it begins."""
    return next((name for name in NAMES if variable.startswith(f"{name}_")), None)


def expressions(text: str) -> str:
    """Return the text that Jinja reads: between braces, and after `when`, `loop`, `that` and similar keys."""
    matches = re.findall(r"{{.*?}}|{%.*?%}", text, re.DOTALL)
    return "\n".join([*matches, *re.findall(r"^\s*(?:when|until|failed_when|changed_when):(.*)$", text, re.MULTILINE)])


def reads(role: str) -> set[str]:
    """Return the variables of any role that a role's expressions read without a default."""
    variables: set[str] = set()
    for path in (ROLES / role).rglob("*"):
        if path.is_file() and path.parts[-2] in ("tasks", "handlers", "defaults", "vars", "templates"):
            text = re.sub(r"#.*", "", path.read_text(encoding="utf-8", errors="replace"))
            variables |= {variable for variable in _VARIABLE.findall(expressions(text)) if owner(variable) is not None}
    return variables


def included(role: str) -> set[str]:
    """Return the roles that it includes, or lists in its `dependencies`."""
    text = "".join(path.read_text() for path in (ROLES / role / "tasks").glob("*.yml"))
    named = set(re.findall(r"(?:include_role|import_role):\s*\n\s*name: (\w+)", text))
    meta = yaml_text.load((ROLES / role / "meta/main.yml").read_text())
    return named | {
        str(dependency.get("role", dependency) if isinstance(dependency, dict) else dependency)
        for dependency in meta["dependencies"]
    }


@pytest.mark.parametrize("role", NAMES)
def test_appliance_723_no_role_depends_on_another_that_it_does_not_include(role: str) -> None:
    """A role that reads the variables of another works only if that one has run, without an error otherwise."""
    foreign = {variable for variable in reads(role) if owner(variable) not in {role, *included(role)}}
    assert foreign == set()
