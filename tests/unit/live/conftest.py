"""Environment on an emulated AWS on the loopback, with all resources that a good environment needs."""

import functools
import json
from collections.abc import Callable, Iterator, Mapping
from copy import deepcopy
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import boto3
import pytest

from landbridge.aws_api.client import AwsClient
from landbridge.environment import Loaded, load_environment
from landbridge.findings import DataPath, Finding
from landbridge.live.preflight import PreflightReport, preflight
from sandbox.aws_emulator.process import EmulatorProcess, running
from tests.unit.aws_emulator.conftest import client_of
from tests.unit.core.samples import GOOD, REMOVED, changed

from . import estate as estates
from .estate import Estate

Build = Callable[..., Loaded]


@pytest.fixture(scope="session")
def emulator(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EmulatorProcess]:
    with running(
        tmp_path_factory.mktemp("cloud"), "--with-parent", "--require-credentials", "--boot-delay", "0"
    ) as cloud:
        yield cloud


@pytest.fixture
def cloud(emulator: EmulatorProcess, monkeypatch: pytest.MonkeyPatch) -> EmulatorProcess:
    """Return the session's emulator, emptied; this process has its operator's credentials."""
    emulator.control(wipe=True, boot=0)
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(emulator.operator_credentials))
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("AWS_CONFIG_FILE", "/dev/null")
    return emulator


@pytest.fixture
def ec2(cloud: EmulatorProcess) -> Any:
    return client_of(cloud, "ec2")


@pytest.fixture
def build(cloud: EmulatorProcess, tmp_path: Path) -> Build:
    """Return a function that writes the good environment with changes to a file, with the emulated AWS as its AWS."""

    def make(changes: Mapping[DataPath, Any] | None = None, **more: Any) -> Loaded:
        settings: dict[DataPath, Any] = {("aws", "endpoints"): {"operator": cloud.endpoint}, **(changes or {})}
        path = tmp_path / "Pulumi.test.yaml"
        # Copies of the tests' constants: `changed` writes into its argument.
        copied = {
            key: value if value is REMOVED else deepcopy(value)
            for key, value in settings.items()
            if value is not REMOVED or len(key) > 2 or key[-1] in GOOD["aws"]
        }
        path.write_text(changed(copied, **more))
        return load_environment(path)

    return make


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    """Run `landbridge ARGUMENTS` in this process and return exit status, output and errors."""
    from landbridge.cli.main import build as program

    capsys.readouterr()
    with pytest.raises(SystemExit) as ended:
        program()(list(arguments))
    captured = capsys.readouterr()
    return int(ended.value.code or 0), captured.out, captured.err


def as_json(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, dict[str, Any]]:
    status, out, _ = run(capsys, *arguments, "--format", "json")
    return status, json.loads(out)


@pytest.fixture
def estate(cloud: EmulatorProcess) -> Estate:
    """Return the resources that the good environment needs, created in the emulated account."""
    return estates.build(cloud)


def run_preflight(loaded: Any, cloud: EmulatorProcess) -> PreflightReport:
    aws = AwsClient(loaded.environment.region, cloud.endpoint, session(cloud.operator_credentials))
    return preflight(loaded, aws, datetime.now(UTC))


@functools.cache
def session(credentials: Path) -> boto3.session.Session:
    """Return a session for a credentials file (cached: reading the services' models takes most of the time)."""
    return boto3.session.Session(region_name="us-east-1")


def findings_of(report: PreflightReport, rule: str) -> list[Finding]:
    return [finding for finding in report.findings if finding.rule == rule]
