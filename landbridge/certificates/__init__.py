"""Certificates (X.509) for IAM Roles Anywhere and for the site's servers: a new CA, a host's certificate from its request,
and checks of both.

Pure: the caller gives the time. Sources (2026-11-25): IAM Roles Anywhere User Guide, "The IAM Roles Anywhere trust
model": X.509 v3, CA certificates with CA:TRUE, host certificates with CA:FALSE and key usage Digital Signature, signed
with SHA-256 or stronger; "IAM Roles Anywhere authentication": keys are RSA or EC. A certificate has clientAuth as
extended key usage too, which TLS requires for clients (RFC 5280, 4.2.1.12). A server's has serverAuth, and the names and
addresses of its clients' URLs (RFC 9525, 6.3 and 6.5).
"""

from landbridge.certificates.authority import (
    authority_end,
    authority_problems,
    check_pair,
    new_authority,
    read_authority,
)
from landbridge.certificates.host import Issued, has_key_of, host_problems, read_issued, read_request, sign
from landbridge.certificates.pem import (
    CertificateError,
    certificates_in,
    chain_of,
    common_name,
    issuer_of,
    keys_in,
    subject_and_fingerprint,
    valid_from,
)
from landbridge.certificates.session_tags import DEFAULT_RULES, refused_tags, session_tags

__all__ = [
    "DEFAULT_RULES",
    "CertificateError",
    "Issued",
    "authority_end",
    "authority_problems",
    "certificates_in",
    "chain_of",
    "check_pair",
    "common_name",
    "has_key_of",
    "host_problems",
    "issuer_of",
    "keys_in",
    "new_authority",
    "read_authority",
    "read_issued",
    "read_request",
    "refused_tags",
    "session_tags",
    "sign",
    "subject_and_fingerprint",
    "valid_from",
]
