"""Certificates of gateways from a private CA in the emulated AWS."""

from datetime import UTC, datetime

import boto3
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.x509.oid import NameOID
from moto import mock_aws

from landbridge.aws_api.client import AwsClient
from landbridge.aws_api.refusal import AwsRefusal
from landbridge.certificates import CertificateError, has_key_of, read_issued
from landbridge.live.tunnel_certificates import issue

NAME = "gw01.test"


def request(name: str = NAME) -> bytes:
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    builder = x509.CertificateSigningRequestBuilder().subject_name(subject)
    return builder.sign(key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM)


@pytest.fixture
def authority(monkeypatch: pytest.MonkeyPatch) -> object:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "emulated")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "emulated")
    with mock_aws():
        client = boto3.client("acm-pca", "us-east-1")
        arn = client.create_certificate_authority(
            CertificateAuthorityConfiguration={
                "KeyAlgorithm": "RSA_2048",
                "SigningAlgorithm": "SHA256WITHRSA",
                "Subject": {"CommonName": "tunnels"},
            },
            CertificateAuthorityType="SUBORDINATE",
        )["CertificateAuthorityArn"]
        yield client, arn


def connect() -> AwsClient:
    return AwsClient("us-east-1")


def activate(client: object, arn: str) -> None:
    csr = client.get_certificate_authority_csr(CertificateAuthorityArn=arn)["Csr"].encode()  # type: ignore[attr-defined]
    root_key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    root = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "root")])
    wanted, now = x509.load_pem_x509_csr(csr), datetime.now(UTC)

    def certificate(subject: x509.Name, key: object) -> bytes:
        builder = x509.CertificateBuilder().subject_name(subject).issuer_name(root).public_key(key)  # type: ignore[arg-type]
        builder = builder.serial_number(x509.random_serial_number()).not_valid_before(now)
        builder = builder.not_valid_after(now.replace(year=now.year + 5))
        builder = builder.add_extension(x509.BasicConstraints(True, None), True)
        return builder.sign(root_key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM)

    client.import_certificate_authority_certificate(  # type: ignore[attr-defined]
        CertificateAuthorityArn=arn,
        Certificate=certificate(wanted.subject, wanted.public_key()),
        CertificateChain=certificate(root, root_key.public_key()),
    )


def test_the_ca_signs_the_request_of_a_gateway(authority: tuple[object, str]) -> None:
    client, arn = authority
    activate(client, arn)
    csr = request()
    issued = issue(connect, arn, csr, NAME, 90).encode()
    assert has_key_of(issued, csr)
    facts = read_issued(issued)
    # moto ignores the validity of the request.
    assert facts.common_name == NAME and facts.not_after > datetime.now(UTC)


def test_a_request_for_another_name_and_a_ca_that_is_not_active_are_refused(authority: tuple[object, str]) -> None:
    _, arn = authority
    with pytest.raises(CertificateError, match=r"not for gw01\.test"):
        issue(connect, arn, request("gw02.test"), NAME, 90)
    with pytest.raises(CertificateError, match="issues no certificate"):
        issue(connect, arn, request(), NAME, 90)
    absent = arn[:-1] + ("1" if arn.endswith("0") else "0")
    with pytest.raises(AwsRefusal):
        issue(connect, absent, request(), NAME, 90)
