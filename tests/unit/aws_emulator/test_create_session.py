"""CreateSession of the emulated IAM Roles Anywhere: credentials for AWS's own signing helper, and none without trust."""

import json
import os
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import boto3
import pytest
from botocore.exceptions import ClientError
from cryptography import x509
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.x509.oid import NameOID

from landbridge.certificates import new_authority, sign
from landbridge.plan.aws.access.iam_policies import roles_anywhere_trust
from landbridge.plan.policy_document import document
from landbridge.realise.signing_helper import build
from sandbox.aws_emulator.process import EmulatorProcess

from .conftest import ONCE, client_of

pytestmark = pytest.mark.signing_helper
ACCOUNT = "123456789012"
HOST = "ctl01"


@dataclass(frozen=True)
class Site:
    """Host with a certificate, and the ARNs that it presents."""

    cloud: EmulatorProcess
    folder: Path
    authority: tuple[bytes, bytes]
    anchor: str
    profile: str
    role: str
    seconds: int = 3600

    def named(self, issuer: str) -> "Site":
        """Return the site with a CA of this name in the trust anchor."""
        authority = new_authority(issuer, datetime.now(UTC) - timedelta(days=30))
        source = {"sourceType": "CERTIFICATE_BUNDLE", "sourceData": {"x509CertificateData": authority[1].decode()}}
        anchor = self.anchor.rpartition("/")[2]
        client_of(self.cloud, "rolesanywhere").update_trust_anchor(trustAnchorId=anchor, source=source)
        return replace(self, authority=authority)

    def certify(self, host: str = HOST, days: int = 90, now: datetime | None = None) -> None:
        """Write a key, and a certificate that the CA signs."""
        request = _request(self.folder, host)
        key, certificate = self.authority
        moment = now or datetime.now(UTC)
        (self.folder / "host.pem").write_bytes(sign(request, host, certificate, key, moment, days))

    def ask(self) -> subprocess.CompletedProcess[str]:
        """Run AWS's signing helper as the SDKs do."""
        arns = ["--trust-anchor-arn", self.anchor, "--profile-arn", self.profile, "--role-arn", self.role]
        files = ["--certificate", str(self.folder / "host.pem"), "--private-key", str(self.folder / "host.key")]
        options = ["--endpoint", self.cloud.endpoint, "--session-duration", str(self.seconds)]
        command = [str(build()), "credential-process", *arns, *files, *options]
        # Version 1.5.0 of the helper does not start with AWS_CA_BUNDLE, which a test machine may set.
        variables = {key: value for key, value in os.environ.items() if key != "AWS_CA_BUNDLE"}
        return subprocess.run(command, capture_output=True, text=True, check=False, env=variables)


def _request(folder: Path, host: str) -> bytes:
    key = ec.generate_private_key(ec.SECP256R1())
    (folder / "host.key").write_bytes(
        key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    )
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, host)])
    request = x509.CertificateSigningRequestBuilder().subject_name(name).sign(key, SHA256())
    return request.public_bytes(serialization.Encoding.PEM)


@pytest.fixture
def site(cloud: EmulatorProcess, tmp_path: Path) -> Iterator[Site]:
    authority = new_authority("acme", datetime.now(UTC) - timedelta(days=30))
    anywhere, iam = client_of(cloud, "rolesanywhere"), client_of(cloud, "iam")
    source = {"sourceType": "CERTIFICATE_BUNDLE", "sourceData": {"x509CertificateData": authority[1].decode()}}
    anchor = anywhere.create_trust_anchor(name="acme-site", enabled=True, source=source)["trustAnchor"]
    trust = document([roles_anywhere_trust(ACCOUNT, [HOST], anchor["trustAnchorArn"])])
    role = iam.create_role(RoleName="acme-launch", AssumeRolePolicyDocument=trust)["Role"]["Arn"]
    profile = anywhere.create_profile(name="acme-launch", enabled=True, roleArns=[role], durationSeconds=3600)
    parts = (anchor["trustAnchorArn"], profile["profile"]["profileArn"], role)
    return Site(cloud, tmp_path, authority, *parts)


def credentials(site: Site) -> dict[str, Any]:
    done = site.ask()
    assert done.returncode == 0, done.stderr
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


def refused(site: Site) -> str:
    done = site.ask()
    assert done.returncode != 0, done.stdout
    return done.stderr


def test_the_signing_helper_gets_credentials_of_the_role(site: Site) -> None:
    site.certify()
    answer = credentials(site)
    assert answer["AccessKeyId"].startswith("ASIA")
    left = datetime.fromisoformat(answer["Expiration"]) - datetime.now(UTC)
    assert timedelta(minutes=50) < left <= timedelta(minutes=60)
    session = boto3.session.Session(
        answer["AccessKeyId"], answer["SecretAccessKey"], answer["SessionToken"], "us-east-1"
    )
    identity = session.client("sts", endpoint_url=site.cloud.endpoint, config=ONCE).get_caller_identity()
    assert ":assumed-role/acme-launch/" in identity["Arn"]
    ec2 = session.client("ec2", endpoint_url=site.cloud.endpoint, config=ONCE)
    with pytest.raises(ClientError) as caught:
        ec2.describe_vpcs()
    assert caught.value.response["Error"]["Code"] == "UnauthorizedOperation", "the role has no permissions"
    site.cloud.control(clock=7200)
    with pytest.raises(ClientError) as caught:
        ec2.describe_vpcs()
    assert caught.value.response["Error"]["Code"] == "RequestExpired"


def test_key_and_certificate_may_be_in_one_file(site: Site) -> None:
    site.certify()
    both = (site.folder / "host.key").read_text() + (site.folder / "host.pem").read_text()
    for name in ("host.key", "host.pem"):
        (site.folder / name).write_text(both)
    assert credentials(site)["Version"] == 1


def test_another_host_or_authority_gets_nothing(site: Site) -> None:
    site.certify("mlops01")
    assert "Unable to assume role" in refused(site)
    other = replace(site, authority=new_authority("other", datetime.now(UTC)))
    other.certify()
    assert "No chain to a CA certificate" in refused(other)


def test_a_key_that_is_not_the_certificates_is_refused(site: Site) -> None:
    site.certify()
    _request(site.folder, HOST)
    assert "signature does not match" in refused(site)


def test_an_expired_certificate_is_refused(site: Site) -> None:
    site.certify(days=1, now=datetime.now(UTC) - timedelta(days=3))
    assert "not valid now" in refused(site)


@pytest.mark.parametrize(("kind", "word"), [("trust_anchor", "TrustAnchor"), ("profile", "Profile")])
def test_a_disabled_anchor_or_profile_gives_nothing(site: Site, kind: str, word: str) -> None:
    site.certify()
    arn = site.anchor if kind == "trust_anchor" else site.profile
    key = "trustAnchorId" if kind == "trust_anchor" else "profileId"
    getattr(client_of(site.cloud, "rolesanywhere"), f"disable_{kind}")(**{key: arn.rpartition("/")[2]})
    assert f"{word} {arn} is disabled" in refused(site)


def test_only_roles_of_the_profile_can_be_assumed(site: Site) -> None:
    site.certify()
    trust = document([roles_anywhere_trust(ACCOUNT, [HOST], site.anchor)])
    role = client_of(site.cloud, "iam").create_role(RoleName="acme-terminate", AssumeRolePolicyDocument=trust)
    assert "is not in the profile" in refused(replace(site, role=role["Role"]["Arn"]))


def test_a_session_is_not_longer_than_the_role_allows(site: Site) -> None:
    site.certify()
    profile = site.profile.rpartition("/")[2]
    client_of(site.cloud, "rolesanywhere").update_profile(profileId=profile, durationSeconds=7200)
    assert "exceeds the MaxSessionDuration" in refused(replace(site, seconds=7200))


def test_a_certificate_without_digital_signature_is_refused(site: Site) -> None:
    request = x509.load_pem_x509_csr(_request(site.folder, HOST))
    key = serialization.load_pem_private_key(site.authority[0], None)
    ca = x509.load_pem_x509_certificate(site.authority[1])
    now = datetime.now(UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(request.subject)
        .issuer_name(ca.subject)
        .public_key(request.public_key())
        .serial_number(1)
        .not_valid_before(now - timedelta(minutes=5))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .sign(key, SHA256())  # type: ignore[arg-type]
    )
    (site.folder / "host.pem").write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
    assert "It has no key usage" in refused(site)


UNMAPPED = "Some attributes failed to be mapped into session tags. Issuer: [ CN ]; Subject: [  ]; SAN: [  ]"


@pytest.mark.parametrize("issuer", ["Acme, Inc.", "R&D", "King's College", "Issuing CA (Research)"])
def test_an_issuer_whose_name_cannot_be_a_session_tag_gets_nothing(site: Site, issuer: str) -> None:
    named = site.named(issuer)
    named.certify()
    assert UNMAPPED in refused(named)


def test_a_profile_that_does_not_map_the_issuer_accepts_any_name(site: Site) -> None:
    named, anywhere = site.named("R&D"), client_of(site.cloud, "rolesanywhere")
    named.certify()
    profile = site.profile.rpartition("/")[2]
    left = anywhere.delete_attribute_mapping(profileId=profile, certificateField="x509Issuer")["profile"]
    assert {row["certificateField"] for row in left["attributeMappings"]} == {"x509Subject", "x509SAN"}
    assert credentials(named)["Version"] == 1
    rules = [{"specifier": "OU"}]
    anywhere.put_attribute_mapping(profileId=profile, certificateField="x509Subject", mappingRules=rules)
    # The trust policy asks for the common name, which is no tag now.
    assert "Unable to assume role for" in refused(named)
