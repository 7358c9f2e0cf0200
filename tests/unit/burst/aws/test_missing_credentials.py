"""Controller without AWS credentials: the failure is none of a pool, and a credential_process is called again."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from landbridge.burst.aws.ec2 import Ec2
from landbridge.burst.config.config import parse
from landbridge.burst.model.errors import AwsError, ErrorKind
from landbridge.burst.operator.doctor import aws, certificate
from landbridge.findings import Severity
from tests.unit.burst.situations import NOW


@pytest.fixture
def bare(burst: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """Return the configuration of a host whose only source of credentials is a file."""
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "none"))
    return {**burst, "credentials_file": str(tmp_path / "aws-credentials")}


@pytest.fixture
def keys(burst: dict[str, Any]) -> dict[str, str]:
    """Return an access key that the emulated AWS accepts, as a credential_process prints it."""
    lines = dict(
        line.split(" = ") for line in Path(burst["credentials_file"]).read_text().splitlines() if " = " in line
    )
    return {"AccessKeyId": lines["aws_access_key_id"], "SecretAccessKey": lines["aws_secret_access_key"]}


def test_a_host_without_credentials_reports_them_and_names_the_command(bare: dict[str, Any]) -> None:
    config = parse(bare)
    with pytest.raises(AwsError) as caught:
        Ec2(config).view()
    assert (caught.value.code, caught.value.kind) == ("NoCredentialsError", ErrorKind.CREDENTIALS)
    (finding,) = aws(config, NOW)
    assert finding.rule == "burst-credentials" and "landbridge credentials status" in str(finding.fix)


def test_a_file_that_appears_later_is_used(bare: dict[str, Any], burst: dict[str, Any]) -> None:
    ec2 = Ec2(parse(bare))
    with pytest.raises(AwsError):
        ec2.view()
    Path(bare["credentials_file"]).write_text(Path(burst["credentials_file"]).read_text())
    assert ec2.view().instances == ()


def test_the_same_client_works_as_soon_as_the_program_gives_credentials(
    bare: dict[str, Any], keys: dict[str, str], tmp_path: Path
) -> None:
    program, printed = tmp_path / "helper", tmp_path / "keys.json"
    program.write_text(f"#!{sys.executable}\nimport sys\nsys.stdout.write(open({str(printed)!r}).read())\n")
    program.chmod(0o700)
    Path(bare["credentials_file"]).write_text(f"[default]\ncredential_process = {program}\n")
    ec2 = Ec2(parse(bare))
    with pytest.raises(AwsError) as caught:
        ec2.view()
    assert (caught.value.code, caught.value.kind) == ("CredentialRetrievalError", ErrorKind.CREDENTIALS)
    printed.write_text(json.dumps({"Version": 1, **keys}))
    assert ec2.view().instances == ()


@pytest.mark.parametrize(("days", "severity"), [(60, None), (20, Severity.WARNING), (-1, Severity.ERROR)])
def test_the_end_of_the_certificate_is_reported(
    bare: dict[str, Any], tmp_path: Path, days: int, severity: Severity | None
) -> None:
    file = tmp_path / "validity.json"
    config = parse({**bare, "certificate_validity": str(file)})
    assert [finding.rule for finding in certificate(config, NOW)] == ["burst-certificate"]
    file.write_text(json.dumps({"not_after": NOW + days * 86400, "alarm_days": 21}))
    assert [finding.severity for finding in certificate(config, NOW)] == ([severity] if severity else [])
