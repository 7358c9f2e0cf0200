"""Certificates of the site's servers: issued with the CA of the store of secrets, used in TLS handshakes, and the CA's rotation."""

import json
import ssl
import subprocess
import sys
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.x509.oid import NameOID

from landbridge.catalog.site_secrets import site_secrets
from landbridge.certificates import CertificateError, certificates_in, keys_in, new_authority
from landbridge.ops.secrets.store import LocalFolder, describe_store, new_value
from landbridge.ops.site_certificates.issue import AUTHORITY
from landbridge.ops.site_certificates.rotate import rotated
from landbridge.ops.site_certificates.status import authority_findings
from tests.unit.core.samples import ROOT, environment

NAMES = ("mlops01", "10.20.0.15")


def name(common_name: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, common_name)])


def pem(key: ec.EllipticCurvePrivateKey) -> str:
    form = serialization.PrivateFormat.PKCS8
    return key.private_bytes(serialization.Encoding.PEM, form, serialization.NoEncryption()).decode()


def program(module: str, *words: str, text: str = "") -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", f"landbridge.ops.site_certificates.{module}", *words]
    return subprocess.run(command, input=text, capture_output=True, text=True, check=False, cwd=ROOT)


def issue(store: LocalFolder, names: Sequence[str] = NAMES) -> str:
    """Return key, certificate and chain of a host, as in its host.pem."""
    key = ec.generate_private_key(ec.SECP256R1())
    request = x509.CertificateSigningRequestBuilder().subject_name(name("mlops01")).sign(key, SHA256())
    text = request.public_bytes(serialization.Encoding.PEM).decode()
    done = program("issue", json.dumps(describe_store(store)), "mlops01", "90", *names, text=text)
    assert done.returncode == 0 and "PRIVATE KEY" not in done.stdout, done.stderr
    return pem(key) + done.stdout


def shake(folder: Path, host: str, authority: str, server_name: str) -> None:
    """Do a TLS handshake in memory. Raises ssl.SSLError if the client refuses the certificate."""
    (folder / "host.pem").write_text(host)
    (folder / "ca.pem").write_text(authority)
    listening = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    listening.load_cert_chain(folder / "host.pem")
    to_server, to_client = ssl.MemoryBIO(), ssl.MemoryBIO()
    context = ssl.create_default_context(cafile=folder / "ca.pem")
    client = context.wrap_bio(to_client, to_server, server_hostname=server_name)
    server = listening.wrap_bio(to_server, to_client, server_side=True)
    pending = [client, server]
    while pending:
        for side in tuple(pending):
            try:
                side.do_handshake()
                pending.remove(side)
            except ssl.SSLWantReadError:
                continue


@pytest.fixture
def store(tmp_path: Path) -> LocalFolder:
    return LocalFolder(tmp_path / "secrets")


def trusted(store: LocalFolder) -> str:
    return "\n".join(certificates_in(store.read()[AUTHORITY]))


def test_clients_accept_the_certificate_for_its_names_only(store: LocalFolder, tmp_path: Path) -> None:
    host = issue(store)
    for server_name in NAMES:
        shake(tmp_path, host, trusted(store), server_name)
    for server_name in ("mlops02", "10.20.0.16"):
        with pytest.raises(ssl.SSLCertVerificationError, match=r"mismatch|not valid for"):
            shake(tmp_path, host, trusted(store), server_name)
    _, other = new_authority("Other CA", datetime.now(UTC))
    with pytest.raises(ssl.SSLCertVerificationError, match="unable to get local issuer"):
        shake(tmp_path, host, other.decode(), "mlops01")


def test_the_ca_is_generated_once_and_its_key_is_private(store: LocalFolder) -> None:
    issue(store)
    before = store.read()[AUTHORITY]
    issue(store)
    assert store.read()[AUTHORITY] == before
    assert (store.path / AUTHORITY).stat().st_mode & 0o777 == 0o600


def test_a_host_gets_no_certificate_of_an_unreadable_ca(store: LocalFolder) -> None:
    store.write({AUTHORITY: "text"})
    key = ec.generate_private_key(ec.SECP256R1())
    request = x509.CertificateSigningRequestBuilder().subject_name(name("mlops01")).sign(key, SHA256())
    text = request.public_bytes(serialization.Encoding.PEM).decode()
    done = program("issue", json.dumps(describe_store(store)), "mlops01", "90", *NAMES, text=text)
    assert done.returncode == 1 and "not a certificate in PEM" in done.stderr and "Traceback" not in done.stderr


def test_an_operators_intermediate_ca_signs_and_the_server_sends_its_certificate(
    store: LocalFolder, tmp_path: Path
) -> None:
    now = datetime.now(UTC)
    root_key, root = new_authority("Root", now)
    key = ec.generate_private_key(ec.SECP256R1())
    issuer = serialization.load_pem_private_key(root_key, None)
    root_certificate = x509.load_pem_x509_certificate(root)
    assert isinstance(issuer, ec.EllipticCurvePrivateKey)
    # Without the limit of the path length that a CA of Landbridge has.
    builder = x509.CertificateBuilder().public_key(issuer.public_key()).serial_number(1)
    builder = builder.subject_name(name("Root")).issuer_name(name("Root"))
    builder = builder.not_valid_before(root_certificate.not_valid_before_utc)
    builder = builder.not_valid_after(root_certificate.not_valid_after_utc)
    usage = root_certificate.extensions.get_extension_for_class(x509.KeyUsage).value
    any_length = x509.BasicConstraints(ca=True, path_length=None)
    builder = builder.add_extension(any_length, critical=True).add_extension(usage, critical=True)
    identifier = x509.SubjectKeyIdentifier.from_public_key(issuer.public_key())
    root_text = builder.add_extension(identifier, critical=False).sign(issuer, SHA256())
    intermediate = (
        x509.CertificateBuilder()
        .public_key(key.public_key())
        .serial_number(2)
        .subject_name(name("Site"))
        .issuer_name(name("Root"))
        .not_valid_before(root_certificate.not_valid_before_utc)
        .not_valid_after(root_certificate.not_valid_after_utc)
        .add_extension(any_length, critical=True)
        .add_extension(usage, critical=True)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
        .add_extension(x509.AuthorityKeyIdentifier.from_issuer_subject_key_identifier(identifier), critical=False)
        .sign(issuer, SHA256())
    )
    texts = [certificate.public_bytes(serialization.Encoding.PEM).decode() for certificate in (intermediate, root_text)]
    store.write({AUTHORITY: pem(key) + "".join(texts)})
    host = issue(store)
    assert len(certificates_in(host)) == 2
    shake(tmp_path, host, texts[1], "mlops01")


def test_the_rotation_has_a_time_in_which_clients_trust_both_cas(store: LocalFolder, tmp_path: Path) -> None:
    description = json.dumps(describe_store(store))

    def step(word: str) -> str:
        done = program("rotate", description, word)
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    hosts, bundles = [issue(store)], [trusted(store)]
    started = datetime.now(UTC).timestamp()
    for word in ("add", "use", "drop"):
        assert (step(word), step(word)) == ("changed", "unchanged")
        hosts.append(issue(store))
        bundles.append(trusted(store))
    assert int(started) <= int(step("since")) <= datetime.now(UTC).timestamp()
    for host, bundle, accepted in (
        (hosts[0], bundles[1], True),
        (hosts[1], bundles[0], True),
        (hosts[2], bundles[1], True),
        (hosts[0], bundles[2], True),
        (hosts[2], bundles[3], True),
        (hosts[2], bundles[0], False),
        (hosts[0], bundles[3], False),
    ):
        if accepted:
            shake(tmp_path, host, bundle, "mlops01")
        else:
            with pytest.raises(ssl.SSLCertVerificationError):
                shake(tmp_path, host, bundle, "mlops01")
    assert len(keys_in(store.read()[AUTHORITY])) == 1
    refused = program("rotate", description, "other")
    assert refused.returncode == 1 and "does not follow" in refused.stderr


def test_a_step_that_does_not_follow_is_refused() -> None:
    form = site_secrets().generated[AUTHORITY]
    first, new = new_value(form), new_value(form)
    added = rotated(first, "add", new)
    for text, step in ((first, "use"), (added, "drop"), (rotated(added, "use", new), "add")):
        with pytest.raises(CertificateError, match="does not follow"):
            rotated(text, step, new)


def test_configure_reports_a_ca_that_cannot_sign_or_ends_soon() -> None:
    now, chosen = datetime.now(UTC), environment()

    def messages(text: str | None, days: int = 0) -> list[str]:
        stored = {} if text is None else {AUTHORITY: text}
        return [finding.message for finding in authority_findings(chosen, stored, now + timedelta(days=days))]

    key, certificate = (text.decode() for text in new_authority("Site", now))
    other_key = new_authority("Other", now)[0].decode()
    assert messages(None) == messages(key + certificate) == messages(key + certificate, 3650 - 181) == []
    (soon,) = messages(key + certificate, 3650 - 179)
    assert "ends on" in soon
    for text, reason in (
        ("text", "not a certificate"),
        (certificate, "not a private key"),
        (other_key + certificate, "does not belong"),
    ):
        (message,) = messages(text)
        assert reason in message and "BEGIN" not in message
    assert "is valid from" in messages(key + certificate, 3651)[0]
    plain = environment({("mlops", "mlflow"): {"tls": False}})
    assert list(authority_findings(plain, {AUTHORITY: "text"}, now)) == []
