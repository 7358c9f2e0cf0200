"""docs/how-to/choose-an-environment.md: every environment is in it, at today's prices."""

import importlib.util
from pathlib import Path
from types import ModuleType

ROOT = Path(__file__).resolve().parents[3]


def generator() -> ModuleType:
    spec = importlib.util.spec_from_file_location("environments", ROOT / "docs" / "environments.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_table_is_what_landbridge_cost_prints() -> None:
    module = generator()
    page = module.PAGE.read_text()
    assert module.with_table(page) == page, "python docs/environments.py"


def test_every_environment_has_its_paragraph_and_its_row() -> None:
    page = generator().PAGE.read_text()
    for path in (ROOT / "stacks").glob("Pulumi.*.yaml"):
        name = path.name.split(".")[1]
        assert f"- **{name}**: " in page and f"| [{name}](" in page, name


def test_it_is_found_from_the_index() -> None:
    assert "how-to/choose-an-environment.md" in (ROOT / "docs" / "index.md").read_text()
