"""Rules about credentials of the site's services in AWS: the CA of IAM Roles Anywhere and hybrid activations of Systems Manager."""

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
    """A trust anchor of IAM Roles Anywhere is one complete certificate in PEM; any other text is refused when it is created.

    Source: IAM Roles Anywhere User Guide, "Trust anchors"; RFC 7468 for the form, X.690 for its first byte.
    """
    for text in _certificates(environment):
        blocks = [block for block in _BLOCK.findall(text) if block[0] == "CERTIFICATE"]
        if not blocks and "PRIVATE KEY" not in text:
            fix = "write the CA's certificate as a block of text (certificate: |)"
            yield error(_CERTIFICATE, "this text contains no PEM certificate", fix=fix)
        if any(not _is_der(body) for _, body in blocks):
            fix = "copy it again, from its BEGIN line to its END line"
            yield error(_CERTIFICATE, "the PEM certificate is damaged: its body is not DER", fix=fix)


@rule(suppressible=False)
def roles_anywhere_key(environment: Environment) -> Iterator[Finding]:
    """The file does not contain the CA's private key: a reader of it could issue a certificate for any role.

    Source: IAM Roles Anywhere User Guide, "Trust model": only the certificate is ever given to AWS.
    """
    for text in _certificates(environment):
        if "PRIVATE KEY" in text:
            fix = "remove it, and make a new CA: this private key has been disclosed"
            yield error(_CERTIFICATE, "this text contains a private key", fix=fix)


@rule
def ssm_activation_offset(environment: Environment) -> Iterator[Finding]:
    """The end of an activation names its offset from UTC; without it, each machine reads another time.

    Source: Systems Manager CreateActivation: ExpirationDate is a timestamp.
    """
    activation = environment.aws.iam.ssm_activation
    if activation is not None and activation.expires.utcoffset() is None:
        message = f"{activation.expires.isoformat()} has no UTC offset"
        yield error(_EXPIRES, message, fix=f"write {activation.expires.isoformat()}Z")


@dated_rule
def ssm_activation_expiry(environment: Environment, today: date) -> Iterator[Finding]:
    """An activation ends in the future, and not further ahead than Systems Manager allows.

    Machines that registered with it stay registered. An expired activation registers no machine; it is a warning, because this can be intended.
    Source: Systems Manager User Guide, "Create a hybrid activation to register nodes with Systems Manager".
    """
    activation = environment.aws.iam.ssm_activation
    if activation is None or activation.expires.utcoffset() is None:
        return
    start, most = datetime(today.year, today.month, today.day, tzinfo=UTC), iam().limits.ssm_activation_days
    if activation.expires <= start:
        message = f"the activation expired on {activation.expires.date()}"
        yield warning(_EXPIRES, message, fix="remove it, or write a later expires")
    elif activation.expires > start + timedelta(days=most + 1):
        message = f"{activation.expires.date()} is more than {most} days ahead"
        yield error(_EXPIRES, message, fix=f"write a date at most {most} days ahead")


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
