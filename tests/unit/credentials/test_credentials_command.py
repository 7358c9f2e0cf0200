"""Commands `landbridge credentials`: the CA, certificates of hosts, and what `configure` requires."""

import json
import stat
import subprocess
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from cryptography.x509.oid import ExtendedKeyUsageOID
from typer.testing import CliRunner

from landbridge.certificates import CertificateError, host_problems, new_authority, read_issued, sign
from landbridge.cli.main import build
from landbridge.environment import load_environment
from landbridge.ops.credentials.folder import AuthorityFolder
from landbridge.ops.credentials.status import host_states, readiness
from tests.unit.core.samples import ROOT

HOSTS = ("ctl01", "mlops01", "nfs01")


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    path = tmp_path / "Pulumi.acme.yaml"
    path.write_text((ROOT / "stacks/Pulumi.hybrid.yaml").read_text())
    return path


def run(*words: str | Path, code: int = 0) -> str:
    result = CliRunner().invoke(build(), ["credentials", *map(str, words)])
    assert result.exit_code == code, result.output
    return result.output


def csr(folder: Path, host: str) -> Path:
    request = folder / f"{host}.csr"
    new_key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", str(folder / "key")]
    command = ["openssl", "req", "-new", *new_key, "-subj", f"/CN={host}", "-out", str(request)]
    subprocess.run(command, check=True, capture_output=True)
    return request


def test_init_creates_a_private_key_and_an_environment_without_findings_about_it(file: Path) -> None:
    run("init", "-f", file)
    folder = AuthorityFolder.of("acme")
    assert [stat.S_IMODE(path.stat().st_mode) for path in (folder.key, folder.certificate)] == [0o600, 0o600]
    assert stat.S_IMODE(folder.path.stat().st_mode) == 0o700
    environment = load_environment(file).environment
    assert environment is not None and environment.aws.iam.anywhere is not None
    assert environment.aws.iam.anywhere.certificate == folder.certificate.read_text().strip()
    checked = CliRunner().invoke(build(), ["check", "-f", str(file)])
    assert "site-credentials" not in checked.output and "roles-anywhere" not in checked.output
    text, key = file.read_text(), folder.key.read_bytes()
    assert json.loads(run("init", "-f", file, "--format", "json"))["created"] is False
    assert (file.read_text(), folder.key.read_bytes()) == (text, key), "repeating it changes nothing"
    run("init", "-f", file, "--replace")
    assert folder.key.read_bytes() != key and file.read_text() != text


def test_init_keeps_a_link_and_the_line_ends_of_the_other_lines(file: Path) -> None:
    target = file.rename(file.with_name("shared.yaml"))
    target.write_bytes(target.read_bytes().replace(b"\n", b"\r\n"))
    file.symlink_to(target.name)
    run("init", "-f", file)
    lines = [line for line in target.read_bytes().splitlines(keepends=True) if line.endswith(b"\r\n")]
    assert file.is_symlink() and len(lines) > 50 and load_environment(file).environment is not None


def test_certificates_are_issued_listed_and_due(file: Path, tmp_path: Path) -> None:
    run("init", "-f", file)
    assert {row["state"] for row in json.loads(run("status", "-f", file, "--format", "json", code=1))["hosts"]} == {
        "missing"
    }
    for host in HOSTS:
        run("issue", host, "--request", csr(tmp_path, host), "--output", tmp_path / f"{host}.pem", "-f", file)
    hosts = json.loads(run("status", "-f", file, "--format", "json"))["hosts"]
    assert {row["host"]: row["state"] for row in hosts} == dict.fromkeys(HOSTS, "valid")
    environment = load_environment(file).environment
    assert environment is not None
    folder, now = AuthorityFolder.of("acme"), datetime.now(UTC)
    assert host_problems((tmp_path / "ctl01.pem").read_bytes(), folder.certificate.read_bytes(), HOSTS, now) == []
    for days, state in ((31, "due"), (70, "ending"), (91, "expired")):
        later = host_states(environment, folder, now + timedelta(days=days))
        assert {row.state for row in later} == {state}
    assert "is for" in run("issue", "ctl01", "--request", csr(tmp_path, "ctl09"), "-f", file, code=1)


def test_a_ca_elsewhere_signs_requests_and_import_checks_them(file: Path, tmp_path: Path) -> None:
    now = datetime.now(UTC)
    key, certificate = new_authority("organisation", now)
    (tmp_path / "ca.pem").write_bytes(certificate)
    run("init", "-f", file, "--ca-certificate", tmp_path / "ca.pem")
    request = csr(tmp_path, "ctl01")
    assert "not on this machine" in run("issue", "ctl01", "--request", request, "-f", file, code=1)
    assert json.loads(run("status", "-f", file, "--format", "json", code=1))["requests"]
    good, other = tmp_path / "good.pem", tmp_path / "other.pem"
    good.write_bytes(sign(request.read_bytes(), "ctl01", certificate, key, now, 30))
    other.write_bytes(sign(request.read_bytes(), "ctl01", *reversed(new_authority("other", now)), now, 30))
    assert "not signed by the CA" in run("import", good, other, "-f", file, code=1)
    assert read_issued(run("issue", "ctl01", "--request", request, "-f", file).encode()).common_name == "ctl01"


def test_import_refuses_names_that_roles_anywhere_cannot_map(file: Path, tmp_path: Path) -> None:
    now = datetime.now(UTC)
    key, certificate = new_authority("organisation", now)
    (tmp_path / "ca.pem").write_bytes(certificate)
    run("init", "-f", file, "--ca-certificate", tmp_path / "ca.pem")
    request, wild = csr(tmp_path, "ctl01").read_bytes(), tmp_path / "wild.pem"
    purpose = ExtendedKeyUsageOID.CLIENT_AUTH
    wild.write_bytes(sign(request, "ctl01", certificate, key, now, 30, ["*.example.org", "ctl01"], purpose))
    assert 'cannot map x509SAN/DNS="*.example.org"' in run("import", wild, "-f", file, code=1)
    # Of several names of one kind only the first is mapped.
    wild.write_bytes(sign(request, "ctl01", certificate, key, now, 30, ["ctl01", "*.example.org"], purpose))
    assert "ctl01" in run("import", wild, "-f", file)


def test_an_existing_ca_is_taken_with_its_key(file: Path, tmp_path: Path) -> None:
    key, certificate = new_authority("organisation", datetime.now(UTC))
    (tmp_path / "ca.pem").write_bytes(certificate)
    (tmp_path / "ca.key").write_bytes(key)
    options = ["--ca-certificate", tmp_path / "ca.pem", "--ca-key", tmp_path / "ca.key"]
    (tmp_path / "ca.key").chmod(0o644)
    assert "chmod 600" in run("init", "-f", file, *options, code=1)
    (tmp_path / "ca.key").chmod(0o600)
    run("init", "-f", file, *options)
    run("issue", "ctl01", "--request", csr(tmp_path, "ctl01"), "--output", tmp_path / "ctl01.pem", "-f", file)
    assert AuthorityFolder.of("acme").key.is_symlink()
    run("init", "-f", file, "--ca-certificate", csr(tmp_path, "x"), "--replace", code=1)


def test_configure_stops_before_it_reaches_a_host_if_credentials_are_missing(file: Path) -> None:
    done = CliRunner().invoke(build(), ["configure", "-f", str(file)])
    assert done.exit_code == 1 and "landbridge credentials init -s acme" in done.output
    environment, folder = load_environment(file).environment, AuthorityFolder.of("acme")
    assert environment is not None
    for name in ("aws-credentials-burst", "aws-credentials-mlflow"):
        (folder.path.parent / name).write_text("[default]\n")
    assert not list(readiness(environment, folder.path.parent, None, datetime.now(UTC)))
    run("init", "-f", file)
    anywhere = load_environment(file).environment
    assert anywhere is not None
    assert not list(readiness(anywhere, folder.path.parent, None, datetime.now(UTC)))
    folder.certificate.write_bytes(new_authority("other", datetime.now(UTC))[1])
    (finding,) = readiness(anywhere, folder.path.parent, None, datetime.now(UTC))
    assert finding.rule == "credentials-authority" and "AWS would refuse" in finding.message


def test_a_weak_or_foreign_request_is_refused(tmp_path: Path) -> None:
    now = datetime.now(UTC)
    key, certificate = new_authority("acme", now)
    weak = ["openssl", "req", "-new", "-newkey", "rsa:1024", "-nodes", "-keyout", str(tmp_path / "k"), "-subj", "/CN=a"]
    request = subprocess.run(weak, check=True, capture_output=True).stdout
    with pytest.raises(CertificateError, match="1024 bits"):
        sign(request, "a", certificate, key, now, 90)
    with pytest.raises(CertificateError, match="not a certificate request"):
        sign(b"nothing", "a", certificate, key, now, 90)
