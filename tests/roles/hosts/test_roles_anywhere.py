"""role roles_anywhere on a real host: AWS's signing helper turns the host's certificate into credentials of each role."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from ipaddress import IPv4Network
from pathlib import Path
from typing import Any

import boto3
import pytest

from landbridge.certificates import sign
from landbridge.ops.credentials.folder import AuthorityFolder
from landbridge.plan.aws.access.iam_policies import roles_anywhere_trust
from landbridge.plan.policy_document import document
from landbridge.realise.signing_helper import build
from sandbox.aws_emulator.process import EmulatorProcess, running
from sandbox.nspawn import cleanup
from sandbox.nspawn import lab as whole
from sandbox.nspawn.layout import Layout, layout
from sandbox.nspawn.machine import nodes
from sandbox.nspawn.site import Machine, operator_address, plan
from tests.roles.ansible_run import Played, connection, play

pytestmark = [pytest.mark.lab, pytest.mark.signing_helper]

ONPREM = IPv4Network("10.53.0.0/16")
SITE = plan(ONPREM, IPv4Network("10.93.0.0/16"), None, (Machine("ctl01", "10.53.0.11"),))
ENDPOINT = f"{operator_address(ONPREM)}:4580"
FOLDER, HELPER = "/etc/landbridge/anywhere", "/opt/landbridge/bin/aws_signing_helper"
ROLES = ("launch", "terminate", "read")


@dataclass(frozen=True)
class Host:
    """Controller, the CA of its operator, and the ARNs of its roles."""

    lab: Layout
    folder: Path
    authority: AuthorityFolder
    anchor: str
    arns: dict[str, dict[str, str]]  # role -> role_arn, profile_arn

    def run(self, command: str, code: int = 0) -> str:
        done = nodes.exec(self.lab, "ctl01", [command], timeout=300)
        assert done.returncode == code, f"{command}: {done.stderr}{done.stdout}"
        return f"{done.stdout}{done.stderr}".strip()

    def files(self) -> list[dict[str, Any]]:
        burst = {"owner": "slurm", "uid": 64030, "home": "/nonexistent", "services": ["landbridge-burst"]}
        profiles = [{"name": "default", **self.arns["launch"]}, {"name": "terminate", **self.arns["terminate"]}]
        of_root = [{"name": "read", **self.arns["read"]}]
        return [
            {"path": "/etc/landbridge/aws-credentials", **burst, "profiles": profiles},
            {"path": "/etc/landbridge/aws-profiles", "owner": "root", "profiles": of_root},
        ]

    def play(self, *words: str, **change: Any) -> Played:
        variables = {
            "roles_anywhere_common_name": "ctl01",
            "roles_anywhere_authority": self.authority.certificate.read_text(),
            "roles_anywhere_authority_folder": str(self.authority.path),
            "roles_anywhere_trust_anchor": self.anchor,
            "roles_anywhere_region": "us-east-1",
            "roles_anywhere_endpoint": f"http://{ENDPOINT}",
            "roles_anywhere_files": self.files(),
            **change,
        }
        host = {"ansible_host": "10.53.0.11", **connection(self.lab), **variables}
        book = [{"hosts": "ctl01", "gather_facts": False, "roles": ["roles_anywhere"]}]
        return play(self.lab, self.folder, book, {"all": {"hosts": {"ctl01": host}}}, *words)

    def credentials(self, user: str, file: str, profile: str) -> dict[str, Any]:
        """Return what the profile's program prints when the account runs it, as the AWS SDKs do."""
        command = f"sed -n '/\\[{profile}\\]/,/^region/s/^credential_process = //p' {file}"
        answer: dict[str, Any] = json.loads(self.run(f'runuser -u {user} -- sh -c "$({command})"'))
        return answer

    @property
    def serial(self) -> str:
        return str(json.loads(self.run(f"cat {FOLDER}/validity.json"))["serial"])


@pytest.fixture(scope="module")
def cloud(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EmulatorProcess]:
    lab = layout("landbridge-credentials")
    cleanup.down(lab)
    try:
        whole.up(lab, SITE)
        options = ["--require-credentials", "--netns", lab.netns, "--listen-netns", ENDPOINT, "--with-parent"]
        with running(tmp_path_factory.mktemp("cloud"), *options) as emulator:
            yield emulator
    finally:
        cleanup.down(lab)


@pytest.fixture(scope="module")
def host(cloud: EmulatorProcess, tmp_path_factory: pytest.TempPathFactory) -> Host:
    build()
    folder = tmp_path_factory.mktemp("credentials")
    authority = AuthorityFolder(folder / "anywhere")
    certificate = authority.create("acme", datetime.now(UTC))
    lines = cloud.operator_credentials.read_text().splitlines()
    session = boto3.session.Session(region_name="us-east-1", **dict(x.split(" = ") for x in lines if " = " in x))
    anywhere = session.client("rolesanywhere", endpoint_url=cloud.endpoint)
    iam = session.client("iam", endpoint_url=cloud.endpoint)
    source = {"sourceType": "CERTIFICATE_BUNDLE", "sourceData": {"x509CertificateData": certificate}}
    anchor = anywhere.create_trust_anchor(name="acme-site", enabled=True, source=source)["trustAnchor"]
    trust = document([roles_anywhere_trust("123456789012", ["ctl01"], anchor["trustAnchorArn"])])
    arns: dict[str, dict[str, str]] = {}
    for name in ROLES:
        role = iam.create_role(RoleName=f"acme-{name}", AssumeRolePolicyDocument=trust)["Role"]["Arn"]
        profile = anywhere.create_profile(name=f"acme-{name}", enabled=True, roleArns=[role])["profile"]
        arns[name] = {"role_arn": role, "profile_arn": profile["profileArn"]}
    host = Host(layout("landbridge-credentials"), folder, authority, anchor["trustAnchorArn"], arns)
    host.play().good()
    return host


def test_each_account_gets_credentials_of_its_roles(host: Host) -> None:
    for profile in ("default", "terminate"):
        answer = host.credentials("slurm", "/etc/landbridge/aws-credentials", profile)
        assert answer["AccessKeyId"].startswith("ASIA")
    assert host.credentials("root", "/etc/landbridge/aws-profiles", "read")["SessionToken"]


def test_no_other_account_reads_key_or_profiles(host: Host) -> None:
    assert host.run(f"stat -c '%U %a' {FOLDER}/host.pem {FOLDER}/slurm.pem /etc/landbridge/aws-credentials").split(
        "\n"
    ) == [
        "root 600",
        "slurm 400",
        "slurm 400",
    ]
    assert host.run(f"ls {FOLDER}").split() == ["ca.pem", "host.pem", "root.pem", "slurm.pem", "validity.json"]
    assert "Permission denied" in host.run(f"runuser -u nobody -- cat {FOLDER}/slurm.pem", code=1)


def test_a_second_run_changes_nothing_and_prints_no_key(host: Host) -> None:
    before = host.serial
    played = host.play("--diff", "-vvv").good()
    assert played.changed == {"ctl01": 0}
    assert host.serial == before
    played = host.play("--diff", "-vvv", roles_anywhere_renew=True).good()
    assert "PRIVATE KEY" not in played.text


def test_a_certificate_that_ends_soon_is_renewed_with_another_key(host: Host) -> None:
    before, key = host.serial, host.run(f"openssl pkey -pubout -in {FOLDER}/host.pem")
    host.play(roles_anywhere_renew_days=91, roles_anywhere_certificate_days=95).good()
    assert host.serial != before
    assert host.run(f"openssl pkey -pubout -in {FOLDER}/host.pem") != key
    assert host.run(f"cmp {FOLDER}/host.pem {FOLDER}/slurm.pem && echo same") == "same"
    assert host.credentials("slurm", "/etc/landbridge/aws-credentials", "default")["AccessKeyId"]


def test_the_host_reports_a_certificate_that_ends_soon(host: Host) -> None:
    assert host.run("systemctl is-enabled landbridge-certificate.timer") == "enabled"
    host.run("systemctl start landbridge-certificate.service")
    host.play(roles_anywhere_renew=True, roles_anywhere_certificate_days=10, roles_anywhere_renew_days=1).good()
    host.run("systemctl start landbridge-certificate.service", code=1)
    log = host.run("journalctl -u landbridge-certificate.service -o cat --no-pager")
    assert "the certificate of ctl01 for AWS ends in 10 days" in log
    assert "landbridge credentials renew" in log
    host.play(roles_anywhere_renew=True).good()
    host.run("systemctl start landbridge-certificate.service")


def test_a_request_can_be_signed_elsewhere(host: Host) -> None:
    key = host.authority.key.read_bytes()
    host.authority.key.unlink()
    try:
        played = host.play(roles_anywhere_renew=True)
        assert played.code != 0 and "landbridge credentials import" in played.one_line
        (request,) = host.authority.requests()
        now = datetime.now(UTC)
        certificate = sign(request.read_bytes(), "ctl01", host.authority.certificate.read_bytes(), key, now, 30)
        assert host.authority.take(certificate, ("ctl01",), now) == "ctl01"
        host.play(roles_anywhere_renew=True).good()
    finally:
        host.authority.key.write_bytes(key)
    validity = json.loads(host.run(f"cat {FOLDER}/validity.json"))
    left = datetime.fromtimestamp(validity["not_after"], UTC) - datetime.now(UTC)
    assert timedelta(days=29) < left <= timedelta(days=30)
