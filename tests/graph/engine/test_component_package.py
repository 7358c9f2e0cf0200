"""Multi-language package under Pulumi's real engine: its schema, and another program that uses a component of it."""

import json
import subprocess
from pathlib import Path

import pytest

from components import multilang
from sandbox.aws_emulator.process import EmulatorProcess
from sandbox.pulumi_provider.engine.find import Engine
from tests.graph.conftest import ROOT
from tests.graph.support.inventory import client, left

pytestmark = [pytest.mark.engine]
#: A program with the code that `pulumi package add` would generate for Python: a remote component.
PROGRAM = """
import pulumi, pulumi_aws as aws

class Remote(pulumi.ComponentResource):
    def __init__(self, kind, name, args, opts):
        super().__init__(f"landbridge:index:{kind}", name, args, opts, remote=True)

services = {name: "ENDPOINT" for name in ("ec2", "s3", "kms", "sts")}
provider = aws.Provider("aws", region="us-east-1", endpoints=[services])
owner = {"cluster": "theirs", "region": "us-east-1", "owner": "me@example.org", "costCenter": "1"}
Remote("DataHub", "hub", {**owner, "classes": CLASSES, "protect": False}, pulumi.ResourceOptions(providers=[provider]))
"""


def _pulumi(folder: Path, *words: str) -> "subprocess.CompletedProcess[str]":
    run = ["pulumi", "--non-interactive", "--color", "never", "-C", str(folder), *words]
    return subprocess.run(run, capture_output=True, text=True, check=False)


def test_the_engine_reads_the_schema(engine: Engine, tmp_path: Path) -> None:
    completed = _pulumi(tmp_path, "package", "get-schema", str(ROOT))
    assert completed.returncode == 0, completed.stderr
    assert set(json.loads(completed.stdout)["resources"]) == {
        f"landbridge:index:{name}" for name in multilang.classes()
    }


def test_another_program_uses_a_component(engine: Engine, cloud: EmulatorProcess, tmp_path: Path) -> None:
    before, text = left(cloud), PROGRAM.replace("ENDPOINT", cloud.endpoint)
    plugin = f"plugins: {{providers: [{{name: landbridge, path: {ROOT}}}]}}\n"
    (tmp_path / "Pulumi.yaml").write_text(f"name: theirs\nruntime: python\n{plugin}")
    assert _pulumi(tmp_path, "stack", "init", "theirs").returncode == 0
    (tmp_path / "__main__.py").write_text(text.replace("CLASSES", '["internal"]'))
    built = _pulumi(tmp_path, "up", "--yes", "--skip-preview", "-s", "theirs")
    assert built.returncode == 0 and "landbridge:index:DataHub" in built.stdout, built.stdout + built.stderr
    buckets = client(cloud, "s3").list_buckets()["Buckets"]
    assert any(bucket["Name"].startswith("theirs-") for bucket in buckets), buckets
    (tmp_path / "__main__.py").write_text(text.replace("CLASSES", '["No Word"]'))
    refused = _pulumi(tmp_path, "preview", "-s", "theirs")
    assert refused.returncode != 0 and "data_classes" in refused.stdout, refused.stdout
    destroyed = _pulumi(tmp_path, "destroy", "--yes", "-s", "theirs")
    assert destroyed.returncode == 0 and left(cloud) == before, destroyed.stdout
