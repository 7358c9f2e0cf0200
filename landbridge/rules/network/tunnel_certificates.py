"""Rules about certificates of the tunnels (link.certificate)."""

from collections.abc import Iterator
from datetime import date

from landbridge.environment import Environment
from landbridge.findings import DataPath, Finding, error, warning
from landbridge.rules.registry import dated_rule, rule

_CERTIFICATE: DataPath = ("link", "certificate")
_AUTHORITIES: DataPath = (*_CERTIFICATE, "authorities")
#: Landbridge's choice: time for a new CA, whose certificates every gateway and AWS's customer gateways need.
_AUTHORITY_WARNING_DAYS = 180
#: Parts of an ARN: arn:PARTITION:SERVICE:REGION:ACCOUNT:RESOURCE.
_REGION_PART, _ACCOUNT_PART = 3, 4


@rule
def tunnel_certificate_place(environment: Environment) -> Iterator[Finding]:
    """The certificate of the customer gateway and its CA are in the account and the region of the VPN.

    Source: EC2 API Reference, CreateCustomerGateway (CertificateArn); AWS Certificate Manager is a regional service.
    """
    settings = environment.link.certificate if environment.link is not None else None
    if settings is None:
        return
    for key, arn in (("arn", settings.arn), ("authority_arn", settings.authority_arn)):
        parts = arn.split(":")
        if parts[_REGION_PART] != environment.region:
            message = f"the link is in {environment.region}, and this ARN is of {parts[_REGION_PART]}"
            yield error((*_CERTIFICATE, key), message, fix=f"issue the certificate in {environment.region}")
        account = environment.aws.account
        if account is not None and parts[_ACCOUNT_PART] != account:
            message = f"the account of this ARN is {parts[_ACCOUNT_PART]}, and aws.account is {account}"
            fix = "share the CA with this account (AWS Resource Access Manager), and issue the certificate in it"
            finding = error if key == "arn" else warning
            yield finding((*_CERTIFICATE, key), message, fix=fix, related=(("aws", "account"),))


@rule
def tunnel_certificate_times(environment: Environment) -> Iterator[Finding]:
    """A gateway's certificate is renewed after it was issued, and before the gateway reports that it ends.

    Source: Landbridge (docs/explanation/recovery.md).
    """
    settings = environment.link.certificate if environment.link is not None else None
    if settings is None:
        return
    if settings.renew_days >= settings.days:
        message = f"a certificate of {settings.days} days would be renewed in every run"
        path: DataPath = (*_CERTIFICATE, "renew_days")
        yield error(path, message, fix=f"write fewer than days ({settings.days})", related=((*_CERTIFICATE, "days"),))
    if settings.alarm_days >= settings.renew_days:
        message = f"gateways would report a certificate before it is due for renewal ({settings.renew_days} days)"
        path = (*_CERTIFICATE, "alarm_days")
        fix = f"write fewer than renew_days ({settings.renew_days})"
        yield error(path, message, fix=fix, related=((*_CERTIFICATE, "renew_days"),))


@rule
def tunnel_authority(environment: Environment) -> Iterator[Finding]:
    """The CA that issues certificates of tunnels is a subordinate CA, with the certificate of its issuer beside it.

    Source: Site-to-Site VPN User Guide, "Tunnel authentication options": a private certificate from a subordinate CA; it
    checks the chain, the validity, and the extensions of key identifiers and basic constraints.
    """
    settings = environment.link.certificate if environment.link is not None else None
    if settings is None:
        return
    from landbridge.certificates import authority_end, certificates_in, issuer_of  # imports a large library

    texts = certificates_in(settings.authorities)
    if not texts:
        fix = "write them as a block of text (authorities: |): aws acm-pca get-certificate-authority-certificate"
        yield error(_AUTHORITIES, "this text contains no PEM certificate", fix=fix)
        return
    for text in texts:
        known = authority_end(text)
        if known is None:
            fix = "copy it again, from its BEGIN line to its END line"
            yield error(_AUTHORITIES, "a certificate in this text cannot be read", fix=fix)
            return
        for problem in known[0]:
            yield error(_AUTHORITIES, problem, fix="write the certificates of CAs only")
    if issuer_of(texts[0], texts[1:]) is None:
        message = "the first certificate is not that of a subordinate CA whose issuer follows it"
        yield error(_AUTHORITIES, message, fix="write the issuing CA's certificate first, then that of the CA above it")


@dated_rule
def tunnel_authority_end(environment: Environment, today: date) -> Iterator[Finding]:
    """The CAs of the tunnels do not end soon: with the end of one, no tunnel is established any more.

    Source: Site-to-Site VPN User Guide, "Tunnel authentication options": the validity of the chain is checked.
    """
    settings = environment.link.certificate if environment.link is not None else None
    if settings is None:
        return
    from landbridge.certificates import authority_end, certificates_in  # imports a large library

    for text in certificates_in(settings.authorities):
        known = authority_end(text)
        if known is None:
            continue
        end, fix = known[1], "create a new CA, and add its certificate here before it issues"
        days = (end.date() - today).days
        if days < 0:
            yield error(_AUTHORITIES, f"a CA certificate expired on {end.date()}", fix=fix)
        elif days < _AUTHORITY_WARNING_DAYS:
            yield warning(_AUTHORITIES, f"a CA certificate expires on {end.date()}", fix=fix)


@rule(suppressible=False)
def tunnel_authority_key(environment: Environment) -> Iterator[Finding]:
    """The file does not contain a CA's private key: every reader of the file could act as AWS's end of a tunnel.

    Source: RFC 5280, section 6.1 (the trust anchor's public key is enough to verify).
    """
    settings = environment.link.certificate if environment.link is not None else None
    if settings is not None and "PRIVATE KEY" in settings.authorities:
        fix = "remove it, and create a new CA: this private key has been disclosed"
        yield error(_AUTHORITIES, "this text contains a private key", fix=fix)
