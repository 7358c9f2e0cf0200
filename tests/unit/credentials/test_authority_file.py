"""Insertion of a CA certificate into an environment file: only the wanted keys change."""

from datetime import UTC, datetime
from pathlib import Path
from textwrap import indent
from typing import Any

import pytest

from landbridge import yaml_text
from landbridge.certificates import new_authority
from landbridge.environment.file.authority import with_authority
from landbridge.findings import FindingsError
from tests.unit.core.samples import ROOT

CERTIFICATE = new_authority("acme", datetime(2026, 11, 25, tzinfo=UTC))[1].decode()
OTHER = new_authority("other", datetime(2026, 11, 25, tzinfo=UTC))[1].decode()


def data(text: str) -> Any:
    return yaml_text.load(text)["config"]["landbridge:environment"]


@pytest.mark.parametrize("name", ["hybrid", "example", "regulated", "frontier", "sandbox"])
def test_the_shipped_environments_take_a_certificate(name: str) -> None:
    text = (ROOT / "stacks" / f"Pulumi.{name}.yaml").read_text()
    changed = with_authority(text, "file.yaml", CERTIFICATE)
    before, after = data(text), data(changed)
    assert after["aws"].pop("iam") == {"anywhere": {"certificate": CERTIFICATE}}
    assert before["onprem"].pop("aws_credentials") == "files"
    assert after == before
    assert "`landbridge credentials init` replaces this" not in changed
    other_lines = [line for line in text.splitlines() if "credentials" not in line]
    assert [line for line in changed.splitlines() if line in set(other_lines)] == other_lines, "no other line changes"
    assert with_authority(changed, "file.yaml", CERTIFICATE) == changed


SITE = """config:
  landbridge:environment:
    onprem:
      cidr: 10.0.0.0/16
    aws:
      cidr: 10.1.0.0/16
      # Roles of the organisation.
      iam:{iam}
      nat: none
"""


@pytest.mark.parametrize(
    "iam",
    [
        " {path: /teams/gpu/}",
        "\n        # All roles are below this path.\n        path: /teams/gpu/",
        f"\n        anywhere:\n          certificate: |\n{indent(OTHER, 12 * ' ')}          minutes: 30\n        path: /teams/gpu/",
    ],
    ids=["flow", "block", "another certificate"],
)
def test_other_settings_of_iam_stay(iam: str) -> None:
    text = SITE.replace("{iam}", iam)
    changed = with_authority(text, "file.yaml", CERTIFICATE)
    present = data(changed)["aws"]["iam"]
    assert present["path"] == "/teams/gpu/" and present["anywhere"]["certificate"] == CERTIFICATE
    assert present["anywhere"].get("minutes", 30) == 30
    assert changed.count("#") == text.count("#")


@pytest.mark.parametrize(
    "text",
    [
        'config: {"landbridge:environment": {onprem: {cidr: 10.0.0.0/16}, aws: {cidr: 10.1.0.0/16}}}\n',
        SITE.replace("{iam}", " {path: /teams/gpu/,\n        node_policies: []}"),
        "config:\n  landbridge:environment:\n    aws: {cidr: 10.1.0.0/16}\n",
    ],
    ids=["one line", "flow over two lines", "no site"],
)
def test_another_layout_is_refused_with_the_text_to_write(text: str) -> None:
    with pytest.raises(FindingsError) as caught:
        with_authority(text, "file.yaml", CERTIFICATE)
    assert caught.value.findings[0].rule in ("edit-layout", "no-site")


def test_a_file_that_is_not_yaml_is_a_finding(tmp_path: Path) -> None:
    with pytest.raises(FindingsError):
        with_authority("config: [", "file.yaml", CERTIFICATE)
