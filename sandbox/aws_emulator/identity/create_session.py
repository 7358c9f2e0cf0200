"""CreateSession of IAM Roles Anywhere: temporary credentials for the holder of a certificate.

botocore has no model of this operation. Source: IAM Roles Anywhere User Guide, "CreateSession API", "The IAM Roles
Anywhere trust model" and "The IAM Roles Anywhere authentication process" (2026-11-25). The texts of the errors are not
AWS's. The guide does not say that an extended key usage without clientAuth is refused: the emulator refuses it, so that
Landbridge's certificates have it.
"""

import json
import re
from collections.abc import Mapping
from datetime import datetime
from typing import Any
from urllib.parse import parse_qsl

import moto.backends
from cryptography import x509
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.hashes import MD5, SHA1
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID
from moto.utilities.utils import get_partition

from landbridge.catalog.aws.limits import limits
from landbridge.certificates import session_tags
from landbridge.ops.iam import Document, Policies, Request, evaluate
from sandbox.aws_emulator.emulator_state import EmulatorState
from sandbox.aws_emulator.identity import principals, x509_signature
from sandbox.aws_emulator.instances.moto_instances import ACCOUNT
from sandbox.aws_emulator.server.errors import CloudError

Bag = dict[str, Any]
PATH = "/sessions"
SERVICE_PRINCIPAL = "rolesanywhere.amazonaws.com"
#: Bounds of durationSeconds.
_SECONDS = (900, 43200)
_ACTIONS = ("sts:AssumeRole", "sts:TagSession", "sts:SetSourceIdentity")


def create_session(emulator: EmulatorState, environ: Mapping[str, Any]) -> Bag:
    """Return the answer of CreateSession. Raise CloudError."""
    length = int(environ.get("CONTENT_LENGTH") or 0)
    body = environ["wsgi.input"].read(length) if length else b""
    signed = x509_signature.verify(environ, body, emulator.now())
    request: Bag = {**(json.loads(body) if body else {}), **dict(parse_qsl(str(environ.get("QUERY_STRING", ""))))}
    missing = [key for key in ("profileArn", "roleArn", "trustAnchorArn") if not request.get(key)]
    if missing:
        raise CloudError("ValidationException", f"Missing: {', '.join(missing)}")
    with emulator.lock:
        anchor = _enabled(emulator, signed.region, "TrustAnchor", request["trustAnchorArn"])
        profile = _enabled(emulator, signed.region, "Profile", request["profileArn"])
        _check_certificate(signed, anchor, emulator.now())
        return _session(request, signed, profile)


def _enabled(emulator: EmulatorState, region: str, kind: str, arn: str) -> Bag:
    resource = emulator.anywhere.get(arn)
    if resource is None or (resource["kind"], resource["region"]) != (kind, region):
        raise CloudError("ResourceNotFoundException", f"{kind} {arn} not found", 404)
    if not resource["is"]["enabled"]:
        raise _denied(f"{kind} {arn} is disabled")
    item: Bag = resource["is"]
    return item


def _check_certificate(signed: x509_signature.SignedRequest, anchor: Bag, now: datetime) -> None:
    """Raise CloudError unless the certificate may sign, and has a valid chain to a CA certificate of the anchor."""
    certificate = signed.certificate
    if (reason := _unsuitable(certificate)) is not None:
        raise _denied(f"Untrusted certificate. {reason}")
    anchors = x509.load_pem_x509_certificates(anchor["source"]["sourceData"]["x509CertificateData"].encode())
    chain = [certificate]
    while True:
        last = chain[-1]
        if not last.not_valid_before_utc <= now <= last.not_valid_after_utc:
            raise _denied("Untrusted certificate. A certificate of the chain is not valid now")
        trusted = next((ca for ca in anchors if _issued(last, ca)), None)
        if trusted is not None:
            if not trusted.not_valid_before_utc <= now <= trusted.not_valid_after_utc:
                raise _denied("Untrusted certificate. The CA certificate is not valid now")
            return
        issuer = next((ca for ca in signed.chain if ca not in chain and _is_ca(ca) and _issued(last, ca)), None)
        if issuer is None:
            raise _denied("Untrusted certificate. No chain to a CA certificate of the trust anchor")
        chain.append(issuer)


def _unsuitable(certificate: x509.Certificate) -> str | None:
    """Return the reason for which a certificate may not authenticate a workload."""
    if certificate.version is not x509.Version.v3:
        return "It is not X.509 v3"
    if isinstance(certificate.signature_hash_algorithm, MD5 | SHA1):
        return "Its signature algorithm is not supported"
    if _is_ca(certificate):
        return "It is a CA certificate"
    if not certificate.subject.get_attributes_for_oid(NameOID.COMMON_NAME):
        return "Its subject has no common name"
    extensions = certificate.extensions
    try:
        if not extensions.get_extension_for_class(x509.KeyUsage).value.digital_signature:
            return "Its key usage lacks Digital Signature"
        usages = extensions.get_extension_for_class(x509.ExtendedKeyUsage).value
        if ExtendedKeyUsageOID.CLIENT_AUTH not in usages:
            return "Its extended key usage lacks clientAuth"
    except x509.ExtensionNotFound as error:
        if error.oid == x509.KeyUsage.oid:
            return "It has no key usage"
    return None


def _is_ca(certificate: x509.Certificate) -> bool:
    try:
        return certificate.extensions.get_extension_for_class(x509.BasicConstraints).value.ca
    except x509.ExtensionNotFound:
        return False


def _issued(certificate: x509.Certificate, issuer: x509.Certificate) -> bool:
    try:
        certificate.verify_directly_issued_by(issuer)
    except (ValueError, TypeError, InvalidSignature):
        return False
    return True


def _session(request: Bag, signed: x509_signature.SignedRequest, profile: Bag) -> Bag:
    role_arn, certificate = str(request["roleArn"]), signed.certificate
    role = principals.role(signed.region, role_arn)
    if role_arn not in profile["roleArns"]:
        raise _denied(f"Role {role_arn} is not in the profile")
    rules = {
        row["certificateField"]: [rule["specifier"] for rule in row["mappingRules"]]
        for row in profile["attributeMappings"]
    }
    tags = dict(session_tags(certificate, rules))
    _refuse_unmapped(tags)
    if role is None or not _trusted(role, request["trustAnchorArn"], tags):
        raise _denied(f"Unable to assume role for {role_arn}")
    seconds = _seconds(request, profile, role)
    name = f"{certificate.serial_number:x}"
    if request.get("roleSessionName"):
        if not profile.get("acceptRoleSessionName"):
            raise _denied("The profile does not accept a role session name")
        name = str(request["roleSessionName"])
    sts = moto.backends.get_backend("sts")[ACCOUNT][get_partition(signed.region)]
    session = sts.assume_role(signed.region, name, role_arn, None, seconds, None)
    credentials = {
        "accessKeyId": session.access_key_id,
        "secretAccessKey": session.secret_access_key,
        "sessionToken": session.session_token,
        "expiration": session.expiration.strftime("%Y-%m-%dT%H:%M:%SZ"),
    }
    common_name = str(certificate.subject.get_attributes_for_oid(NameOID.COMMON_NAME)[0].value)
    entry = {
        "assumedRoleUser": {"arn": session.arn, "assumedRoleId": session.user_id},
        "credentials": credentials,
        "packedPolicySize": 10,
        "roleArn": role_arn,
        "sourceIdentity": f"CN={common_name}",
    }
    subject = f"arn:aws:rolesanywhere:{signed.region}:{ACCOUNT}:subject/{name}"
    return {"credentialSet": [entry], "subjectArn": subject}


def _seconds(request: Bag, profile: Bag, role: Any) -> int:
    """Return a session's duration: the request's, at most the profile's. The role's maximum is a limit."""
    least, longest = _SECONDS
    seconds = int(request.get("durationSeconds") or profile["durationSeconds"])
    if not least <= seconds <= longest:
        raise CloudError("ValidationException", f"durationSeconds is not between {least} and {longest}")
    seconds = min(seconds, int(profile["durationSeconds"]))
    if seconds > int(role.max_session_duration or 3600):
        message = "The requested DurationSeconds exceeds the MaxSessionDuration set for this role."
        raise CloudError("ValidationException", message)
    return seconds


def _refuse_unmapped(tags: Mapping[str, str]) -> None:
    """Raise CloudError if STS does not accept a tag. The sentence is AWS's (aws/rolesanywhere-credential-helper#188)."""
    limits_of_tags = limits().tags
    refused = [
        key
        for key, value in tags.items()
        if not re.fullmatch(limits_of_tags.pattern, value) or len(value) > limits_of_tags.value_characters
    ]
    if refused:
        named = [
            f"{word}: [ {', '.join(key.partition('/')[2] for key in refused if key.startswith(f'x509{word}/'))} ]"
            for word in ("Issuer", "Subject", "SAN")
        ]
        raise _denied(
            f"Unable to assume role. Some attributes failed to be mapped into session tags. {'; '.join(named)}"
        )


def _trusted(role: Any, anchor_arn: str, tags: Mapping[str, str]) -> bool:
    """Return whether the role's trust policy allows all three actions with the tags of the session."""
    document = role.assume_role_policy_document
    trust = Document.of("the trust policy", document)
    context = {
        "aws:SourceAccount": ACCOUNT,
        "aws:SourceArn": anchor_arn,
        **{f"aws:PrincipalTag/{key}": value for key, value in tags.items()},
    }
    policies = Policies(resource=trust, resource_decides=True)
    return all(evaluate(Request(SERVICE_PRINCIPAL, action, role.arn, context), policies).allowed for action in _ACTIONS)


def _denied(message: str) -> CloudError:
    return CloudError("AccessDeniedException", message, 403)
