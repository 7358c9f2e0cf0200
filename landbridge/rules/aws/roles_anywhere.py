"""Rules about credentials of the site's services in AWS: the CA of IAM Roles Anywhere and hybrid activations of Systems
Manager.
"""

import base64
import binascii
import re
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta

from landbridge.catalog.aws.access.iam import iam
from landbridge.catalog.aws.limits import limits
from landbridge.environment import Environment
from landbridge.findings import DataPath, Finding, error, warning
from landbridge.plan.network.services.mlflow_servers import artifact_class
from landbridge.rules.registry import dated_rule, rule

_ANYWHERE: DataPath = ("aws", "iam", "anywhere")
_SOURCE: DataPath = ("onprem", "aws_credentials")
_CERTIFICATE: DataPath = ("aws", "iam", "anywhere", "certificate")
_EXPIRES: DataPath = ("aws", "iam", "ssm_activation", "expires")
_BLOCK = re.compile(r"-----BEGIN ([A-Z0-9 ]+)-----\s*(.*?)\s*-----END \1-----", re.DOTALL)
_SEQUENCE = 0x30
#: Landbridge's choice: time for the replacement of a CA, after which every host needs a new certificate.
_AUTHORITY_WARNING_DAYS = 90


@rule
def site_credentials(environment: Environment) -> Iterator[Finding]:
    """The on-prem services have a source of AWS credentials: without one the burst controller launches no node.

    An EC2 instance gets credentials from its instance profile; an on-prem host has none. IAM Roles Anywhere gives
    temporary ones for a certificate. The other sources are declared, so that they are a decision.
    Source: IAM User Guide, "Access for non AWS workloads".
    """
    site = environment.onprem
    if site is None or site.aws_credentials is not None or environment.aws.iam.anywhere is not None:
        return
    if environment.aws.pools or artifact_class(environment) is not None:
        message = "the on-prem services have no source of AWS credentials: aws.iam.anywhere is not set"
        fix = (
            f"run landbridge credentials init -s {environment.name}, which creates a CA and writes its certificate here"
        )
        yield error(("onprem",), message, fix=fix, related=(_SOURCE, _ANYWHERE))


@rule
def certificate_times(environment: Environment) -> Iterator[Finding]:
    """A host's certificate is renewed after it was issued, and before its host reports that it ends.

    Source: Landbridge; IAM Roles Anywhere User Guide, "Notifications": AWS reports a certificate 45 days before its end.
    """
    anywhere = environment.aws.iam.anywhere
    if anywhere is None:
        return
    if anywhere.renew_days >= anywhere.certificate_days:
        message = f"a certificate of {anywhere.certificate_days} days would be renewed in every run"
        fix = f"write fewer than certificate_days ({anywhere.certificate_days})"
        yield error((*_ANYWHERE, "renew_days"), message, fix=fix, related=((*_ANYWHERE, "certificate_days"),))
    if anywhere.alarm_days >= anywhere.renew_days:
        message = f"hosts would report a certificate before it is due for renewal ({anywhere.renew_days} days)"
        fix = f"write fewer than renew_days ({anywhere.renew_days})"
        yield error((*_ANYWHERE, "alarm_days"), message, fix=fix, related=((*_ANYWHERE, "renew_days"),))


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


@dated_rule
def roles_anywhere_authority(environment: Environment, today: date) -> Iterator[Finding]:
    """The certificate of IAM Roles Anywhere belongs to a CA, is signed with SHA-256 or stronger, and does not end soon.

    With its end no host of the site receives credentials any more.
    Source: IAM Roles Anywhere User Guide, "The IAM Roles Anywhere trust model".
    """
    for text in _certificates(environment):
        from landbridge.certificates import authority_end  # imports a large library, which few environments need

        known = authority_end(text)
        if known is None:
            continue
        problems, end = known
        for problem in problems:
            yield error(
                _CERTIFICATE, problem, fix="write the certificate of a CA: landbridge credentials init creates one"
            )
        days, fix = (
            (end.date() - today).days,
            f"landbridge credentials init -s {environment.name} --replace, then landbridge up",
        )
        if days < 0:
            yield error(_CERTIFICATE, f"the CA certificate expired on {end.date()}", fix=fix)
        elif days < _AUTHORITY_WARNING_DAYS:
            yield warning(_CERTIFICATE, f"the CA certificate expires on {end.date()}", fix=fix)


@rule
def roles_anywhere_issuer(environment: Environment) -> Iterator[Finding]:
    """The name of the CA of IAM Roles Anywhere has only characters of session tags.

    A profile makes session tags of each part of the issuer's name. If one of them has another character, such as a comma,
    an ampersand or a parenthesis, no host gets a session. Pulumi's AWS provider cannot change a profile's mapping.
    Source: IAM Roles Anywhere User Guide, "Certificate attribute mapping"; aws/rolesanywhere-credential-helper#188;
    hashicorp/terraform-provider-aws#48211 (open on 2026-11-29).
    """
    for text in _certificates(environment):
        from landbridge.certificates import CertificateError, refused_tags  # imports a large library

        try:
            refused = refused_tags(text.encode(), limits().tags.pattern, ["x509Subject"])
        except CertificateError:
            continue
        for key, value in refused:
            message = (
                f'IAM Roles Anywhere cannot map {key.removeprefix("x509Subject/")}="{value}" of the CA to a session tag'
            )
            fix = (
                "use a CA whose name has letters, digits, spaces and . : / = + - @ _ only, such as that of landbridge "
                "credentials init; or suppress this rule, and after each new profile run aws rolesanywhere "
                "delete-attribute-mapping --certificate-field x509Issuer --profile-id PROFILE"
            )
            yield error(_CERTIFICATE, message, fix=fix)


@rule(suppressible=False)
def roles_anywhere_key(environment: Environment) -> Iterator[Finding]:
    """The file does not contain the CA's private key: every reader of the file could issue a certificate for any role.

    Source: IAM Roles Anywhere User Guide, "Trust model": only the certificate is ever given to AWS.
    """
    for text in _certificates(environment):
        if "PRIVATE KEY" in text:
            fix = "remove it, and create a new CA: this private key has been disclosed"
            yield error(_CERTIFICATE, "this text contains a private key", fix=fix)


@rule
def ssm_activation_offset(environment: Environment) -> Iterator[Finding]:
    """The expiry of an activation has an offset from UTC; without it, each host reads a different time.

    Source: Systems Manager CreateActivation: ExpirationDate is a timestamp.
    """
    activation = environment.aws.iam.ssm_activation
    if activation is not None and activation.expires.utcoffset() is None:
        message = f"{activation.expires.isoformat()} has no UTC offset"
        yield error(_EXPIRES, message, fix=f"write {activation.expires.isoformat()}Z")


@dated_rule
def ssm_activation_expiry(environment: Environment, today: date) -> Iterator[Finding]:
    """An activation ends in the future, and not further ahead than Systems Manager allows.

    Registered hosts stay registered. An expired activation registers no host; a warning, because this can be intended.
    Source: Systems Manager User Guide, "Create a hybrid activation to register nodes with Systems Manager".
    """
    activation = environment.aws.iam.ssm_activation
    if activation is None or activation.expires.utcoffset() is None:
        return
    start, max_days = datetime(today.year, today.month, today.day, tzinfo=UTC), iam().limits.ssm_activation_days
    if activation.expires <= start:
        message = f"the activation expired on {activation.expires.date()}"
        yield warning(_EXPIRES, message, fix="remove it, or write a later expires")
    elif activation.expires > start + timedelta(days=max_days + 1):
        message = f"{activation.expires.date()} is more than {max_days} days ahead"
        yield error(_EXPIRES, message, fix=f"write a date at most {max_days} days ahead")


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
