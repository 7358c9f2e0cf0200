"""Conventions of all roles: specified variables, one description for each, and restarts only by handlers."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from landbridge import yaml_text

ROLES = Path(__file__).parents[2] / "ansible/roles"
NAMES = sorted(path.name for path in ROLES.iterdir() if path.is_dir())


def load(path: Path) -> Any:
    return yaml_text.load(path.read_text())


def options(role: str) -> dict[str, Mapping[str, Any]]:
    """Every variable of a role's entry points."""
    specs = load(ROLES / role / "meta/argument_specs.yml")["argument_specs"]
    return {name: option for entry in specs.values() for name, option in (entry.get("options") or {}).items()}


def tasks(path: Path) -> Iterator[Mapping[str, Any]]:
    """Every task of a file, those in blocks too."""
    pending = list(load(path) or [])
    while pending:
        task = pending.pop()
        pending += task.get("block", []) + task.get("rescue", []) + task.get("always", [])
        yield task


@pytest.mark.parametrize("role", NAMES)
def test_every_default_is_an_argument_and_has_its_prefix(role: str) -> None:
    defaults = load(ROLES / role / "defaults/main.yml") or {}
    known = options(role)
    assert set(defaults) <= set(known)
    assert all(name.startswith(f"{role}_") for name in known)


@pytest.mark.parametrize("role", NAMES)
def test_a_required_argument_has_no_default_and_a_secret_is_never_logged(role: str) -> None:
    defaults = load(ROLES / role / "defaults/main.yml") or {}
    for name, option in options(role).items():
        if role != "mlflow" or name != "mlflow_users":  # required by one entry point, optional for the other
            assert not (option.get("required") and name in defaults), name
        # What holds a secret says so; where there is one, it is not a default.
        if any(word in name for word in ("password", "credentials", "pre_shared", "secret_key")):
            assert option.get("no_log") is True, name
            assert not defaults.get(name), name


@pytest.mark.parametrize("role", NAMES)
def test_a_variable_is_described_in_argument_specs_alone(role: str) -> None:
    readme = (ROLES / role / "README.md").read_text()
    assert readme.startswith(f"# {role}\n")
    # The table between the markers is made by docs/generate.py, and tests/unit/test_docs.py finds a stale one.
    assert [name for name in options(role) if f"| `{name}` |" not in readme] == []
    made = readme[readme.index("<!-- variables: made by") : readme.index("<!-- /variables -->")]
    assert readme.count("| variable |") == made.count("| variable |")
    defaults = (ROLES / role / "defaults/main.yml").read_text().splitlines()
    assert [line for line in defaults if line.startswith("#")] == []


@pytest.mark.parametrize("role", NAMES)
def test_descriptions_are_whole_sentences(role: str) -> None:
    # An unquoted comma in a flow mapping cuts a description in two without any error.
    for name, option in options(role).items():
        assert option["description"].rstrip().endswith("."), f"{name}: {option['description']}"


@pytest.mark.parametrize("path", sorted(ROLES.glob("*/tasks/*.yml")), ids=lambda path: f"{path.parts[-3]}-{path.stem}")
def test_tasks_use_only_what_comes_with_ansible_and_never_restart(path: Path) -> None:
    own = {module.stem for module in path.parent.parent.glob("library/*.py")}
    words = {"name", "when", "loop", "loop_control", "register", "notify", "changed_when", "failed_when", "no_log"}
    words |= {"vars", "block", "environment", "check_mode", "delegate_to", "become", "until", "retries", "delay"}
    words |= {"rescue", "always", "any_errors_fatal", "throttle"}
    for task in tasks(path):
        assert "ignore_errors" not in task
        for module in set(task) - words:
            assert module.startswith("ansible.builtin.") or module in own, module
            arguments = task[module]
            assert not (isinstance(arguments, dict) and arguments.get("state") in ("restarted", "reloaded")), task[
                "name"
            ]


def test_locks_pin_every_package_by_hash_and_name_no_index() -> None:
    locks = sorted(ROLES.glob("*/files/requirements.lock"))
    assert {lock.parts[-3] for lock in locks} == {"burst", "mlflow", "python_runtime"}
    for lock in locks:
        text = lock.read_text()
        assert text.count("==") <= text.count("--hash=sha256:")
        assert "://" not in text
