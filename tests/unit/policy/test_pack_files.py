"""Files of the policy pack, checked without pulumi-policy."""

from pathlib import Path

from landbridge import yaml_text
from landbridge.policy import POLICIES, PolicySettings

PACK = Path(__file__).resolve().parents[3] / "components" / "policy"


def test_the_program_only_constructs() -> None:
    lines = (PACK / "__main__.py").read_text().splitlines()
    assert [line for line in lines if line.startswith(("def ", "class "))] == []
    assert yaml_text.load((PACK / "PulumiPolicy.yaml").read_text())["runtime"]["name"] == "python"


def test_every_setting_belongs_to_a_policy() -> None:
    assert {name for policy in POLICIES.values() for name in policy.config} == set(PolicySettings.model_fields)
