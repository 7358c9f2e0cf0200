"""Sections of an environment file's text are replaced and removed; all other lines stay."""

import pytest

from landbridge import yaml_text
from landbridge.environment.file.sections import replace_section
from tests.unit.core.samples import ROOT

TEXT = """config:
  # of the first
  first:
    - a   # stays inside

    - b
  # of the second
  # in two lines
  second: {x: 1}

  third: 3
"""


@pytest.mark.parametrize(
    ("path", "lines", "expected"),
    [
        (("config", "second"), ["second: [1]"], TEXT.replace("second: {x: 1}", "second: [1]")),
        (("config", "second"), None, TEXT.replace("  # of the second\n  # in two lines\n  second: {x: 1}\n", "")),
        (("config", "first"), ["first:", "  - c"], TEXT.replace("    - a   # stays inside\n\n    - b\n", "    - c\n")),
        (("config", "third"), None, TEXT.replace("  third: 3\n", "")),
        (("config", "fourth"), ["fourth: 4"], TEXT),
        (("config", "second", "y"), None, TEXT),
    ],
)
def test_one_section_changes(path: tuple[str, ...], lines: list[str] | None, expected: str) -> None:
    assert replace_section(TEXT, path, lines) == expected


@pytest.mark.parametrize("name", ["startup", "hybrid", "regulated", "frontier", "example"])
def test_each_section_of_a_shipped_file_can_be_removed(name: str) -> None:
    text = (ROOT / "stacks" / f"Pulumi.{name}.yaml").read_text()
    body = yaml_text.load(text)["config"]["landbridge:environment"]
    for key in body:
        after = yaml_text.load(replace_section(text, ("config", "landbridge:environment", key), None))
        assert after["config"]["landbridge:environment"] == {other: body[other] for other in body if other != key}
