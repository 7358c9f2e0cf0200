"""Signature of a CreateSession request: SigV4's canonical request, signed with the key of an X.509 certificate.

Source: IAM Roles Anywhere User Guide, "The IAM Roles Anywhere authentication signing process" (2026-11-25).
"""

import base64
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from typing import Any
from urllib.parse import parse_qsl, quote

from cryptography import x509
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric import ec, padding, rsa
from cryptography.hazmat.primitives.hashes import SHA256

from sandbox.aws_emulator.server.errors import CloudError

ALGORITHMS = ("AWS4-X509-ECDSA-SHA256", "AWS4-X509-RSA-SHA256")
_HEADER = re.compile(
    r"(?P<algorithm>AWS4-X509-[A-Z]+-SHA256) Credential=(?P<serial>\d+)/(?P<scope>(?P<day>\d{8})/(?P<region>[^/]+)"
    r"/rolesanywhere/aws4_request), SignedHeaders=(?P<headers>[a-z0-9;-]+), Signature=(?P<signature>[0-9a-f]+)"
)
#: A signature is valid for five minutes around its time (IAM User Guide, "Elements of an AWS API request signature").
_SKEW = timedelta(minutes=5)
_REQUIRED_HEADERS = {"host", "x-amz-date", "x-amz-x509"}


@dataclass(frozen=True)
class SignedRequest:
    """Verified request: the signer's certificate, further certificates of its chain, and the region."""

    certificate: x509.Certificate
    chain: tuple[x509.Certificate, ...]
    region: str


def verify(environ: Mapping[str, Any], body: bytes, now: datetime) -> SignedRequest:
    """Return the signer of a request. Raise CloudError unless its signature is valid now."""
    match = _HEADER.fullmatch(str(environ.get("HTTP_AUTHORIZATION", "")))
    if match is None:
        raise _denied("Missing or malformed Authorization header")
    certificate = _certificate(_header(environ, "x-amz-x509"))
    chain = tuple(_certificate(text) for text in _header(environ, "x-amz-x509-chain").split(",") if text)
    names = match["headers"].split(";")
    if not set(names) >= _REQUIRED_HEADERS or names != sorted(names):
        raise _denied("Signed headers lack host, x-amz-date or x-amz-x509")
    date = _header(environ, "x-amz-date")
    _check_time(date, match["day"], now)
    if int(match["serial"]) != certificate.serial_number:
        raise _denied("Credential's serial number is not the certificate's")
    canonical = "\n".join((
        environ["REQUEST_METHOD"],
        str(environ.get("PATH_INFO", "")),
        _query(str(environ.get("QUERY_STRING", ""))),
        *(f"{name}:{' '.join(_header(environ, name).split())}" for name in names),
        "",
        match["headers"],
        sha256(body).hexdigest(),
    ))  # fmt: skip
    text = "\n".join((match["algorithm"], date, match["scope"], sha256(canonical.encode()).hexdigest()))
    _check_signature(certificate, match["algorithm"], bytes.fromhex(match["signature"]), text.encode())
    return SignedRequest(certificate, chain, match["region"])


def _check_time(date: str, day: str, now: datetime) -> None:
    try:
        moment = datetime.strptime(date, "%Y%m%dT%H%M%SZ").replace(tzinfo=UTC)
    except ValueError as error:
        raise _denied("X-Amz-Date is not a time") from error
    if date[:8] != day or abs(now - moment) > _SKEW:
        raise _denied("Signature expired or not yet valid")


def _check_signature(certificate: x509.Certificate, algorithm: str, signature: bytes, text: bytes) -> None:
    key = certificate.public_key()
    try:
        if isinstance(key, ec.EllipticCurvePublicKey) and algorithm == ALGORITHMS[0]:
            key.verify(signature, text, ec.ECDSA(SHA256()))
        elif isinstance(key, rsa.RSAPublicKey) and algorithm == ALGORITHMS[1]:
            key.verify(signature, text, padding.PKCS1v15(), SHA256())
        else:
            raise _denied(f"{algorithm} does not fit the certificate's key")
    except InvalidSignature as error:
        raise _denied("The request signature does not match the calculated signature") from error


def _certificate(text: str) -> x509.Certificate:
    try:
        return x509.load_der_x509_certificate(base64.b64decode(text, validate=True))
    except ValueError as error:
        raise _denied("X-Amz-X509 is not a certificate") from error


def _header(environ: Mapping[str, Any], name: str) -> str:
    key = name.upper().replace("-", "_")
    return str(environ.get(key if key in ("CONTENT_TYPE", "CONTENT_LENGTH") else f"HTTP_{key}", ""))


def _query(text: str) -> str:
    pairs = sorted((quote(key, safe="-_.~"), quote(value, safe="-_.~")) for key, value in parse_qsl(text, True))
    return "&".join(f"{key}={value}" for key, value in pairs)


def _denied(message: str) -> CloudError:
    return CloudError("AccessDeniedException", message, 403)
