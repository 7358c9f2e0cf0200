"""The how-to about served models: its environment has no error, and its weights and its request are those of the tests."""

import re
from pathlib import Path

import yaml

from landbridge.environment import load_environment
from landbridge.findings import Severity
from landbridge.plan.serving.gateway import gateway_services
from landbridge.plan.serving.model_servers import model_server_variables
from landbridge.rules.run_rules import check

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs/how-to/serve-a-model.md").read_text()


def test_the_environment_of_the_page_serves_the_model(tmp_path: Path) -> None:
    block = re.search(r"<!-- file: serving.yaml -->\n```yaml\n(.*?)```", PAGE, re.DOTALL)
    assert block is not None
    content = yaml.safe_load((ROOT / "tests/unit/rules/full.yaml").read_text())
    content["config"]["landbridge:environment"] |= yaml.safe_load(block[1])
    file = tmp_path / "full.yaml"
    file.write_text(yaml.safe_dump(content))
    loaded = load_environment(file)
    findings = [
        finding for finding in check(loaded) if finding.severity is Severity.ERROR and finding.path[:1] == ("serving",)
    ]
    assert findings == []
    (service,) = gateway_services(loaded.environment)
    assert service.path + "/infer" in PAGE
    assert all(f"replicas: {len(service.servers) // 2}" in PAGE for _ in service.servers)


def test_the_units_and_folders_of_the_page_are_those_of_the_plan() -> None:
    environment = load_environment(ROOT / "tests/unit/rules/full.yaml").environment
    variables = model_server_variables(environment, "srv01")
    (service,) = variables["model_server_services"]
    assert service["slots"][0]["unit"] in PAGE
    assert f"{variables['model_server_models']}/digits/a" in PAGE
    assert f"chgrp -R {service['account']} " in PAGE
