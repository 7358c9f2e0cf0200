"""Rules about how the site's services come into AWS: the CA that is trusted, and machines that register."""

import base64
import binascii
import re
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta

from landbridge.catalog.aws.iam import iam
from landbridge.environment import Environment
from landbridge.findings import DataPath, Finding, error, warning
from landbridge.rules.registry import dated_rule, rule

_CERTIFICATE: DataPath = ("aws", "iam", "anywhere", "certificate")
_EXPIRES: DataPath = ("aws", "iam", "ssm_activation", "expires")
_BLOCK = re.compile(r"-----BEGIN ([A-Z0-9 ]+)-----\s*(.*?)\s*-----END \1-----", re.DOTALL)
_SEQUENCE = 0x30


@rule
def roles_anywhere_certificate(environment: Environment) -> Iterator[Finding]:
    """What IAM Roles Anywhere trusts is a certificate in PEM, whole: it refuses anything else when the anchor is made.

    Source: IAM Roles Anywhere User Guide, "Trust anchors"; RFC 7468 for the form, X.690 for its first byte.
    """
    for text in _certificates(environment):
        blocks = [found for found in _BLOCK.findall(text) if found[0] == "CERTIFICATE"]
        if not blocks and "PRIVATE KEY" not in text:
            fix = "put the CA's certificate itself here, as a block of text (certificate: |)"
            yield error(_CERTIFICATE, "there is no certificate here", fix=fix)
        if any(not _is_der(body) for _, body in blocks):
            fix = "copy it anew, from its BEGIN line to its END line"
            yield error(_CERTIFICATE, "the certificate cannot be read", fix=fix)


@rule(suppressible=False)
def roles_anywhere_key(environment: Environment) -> Iterator[Finding]:
    """The CA's private key is nowhere near this file: whoever reads it makes itself a certificate for any role.

    Source: IAM Roles Anywhere User Guide, "Trust model": only the certificate is ever given to AWS.
    """
    for text in _certificates(environment):
        if "PRIVATE KEY" in text:
            fix = "remove it, and make a new CA: this one has been seen"
            yield error(_CERTIFICATE, "a private key is written here", fix=fix)


@rule
def ssm_activation_offset(environment: Environment) -> Iterator[Finding]:
    """The end of an activation says its offset from UTC; else it is another moment on each machine that reads it.

    Source: Systems Manager CreateActivation: ExpirationDate is a timestamp.
    """
    activation = environment.aws.iam.ssm_activation
    if activation is not None and activation.expires.utcoffset() is None:
        message = f"{activation.expires.isoformat()} has no offset"
        yield error(_EXPIRES, message, fix=f"write {activation.expires.isoformat()}Z")


@dated_rule
def ssm_activation_expiry(environment: Environment, today: date) -> Iterator[Finding]:
    """An activation ends in the future, and not further ahead than Systems Manager allows.

    Machines that registered with it stay; one that is over registers nobody, and is a warning, because that may be meant.
    Source: Systems Manager User Guide, "Create a hybrid activation to register nodes with Systems Manager".
    """
    activation = environment.aws.iam.ssm_activation
    if activation is None or activation.expires.utcoffset() is None:
        return
    start, most = datetime(today.year, today.month, today.day, tzinfo=UTC), iam().limits.ssm_activation_days
    if activation.expires <= start:
        message = f"the activation was over on {activation.expires.date()}"
        yield warning(_EXPIRES, message, fix="remove it, or set a new end")
    elif activation.expires > start + timedelta(days=most + 1):
        message = f"{activation.expires.date()} is more than {most} days ahead"
        yield error(_EXPIRES, message, fix=f"at most {most} days")


def _certificates(environment: Environment) -> Iterator[str]:
    anywhere = environment.aws.iam.anywhere
    if anywhere is not None:
        yield anywhere.certificate


def _is_der(body: str) -> bool:
    try:
        der = base64.b64decode("".join(body.split()), validate=True)
    except (binascii.Error, ValueError):
        return False
    return der[:1] == bytes([_SEQUENCE])
