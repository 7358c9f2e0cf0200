"""State of the CA of the site's servers in the store of secrets, as findings."""

from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta

from landbridge.certificates import CertificateError, certificates_in, check_pair, keys_in, read_authority
from landbridge.environment import Environment
from landbridge.findings import DataPath, Finding, Severity
from landbridge.ops.site_certificates.issue import AUTHORITY
from landbridge.plan.site.site_tls import has_site_tls

#: Landbridge's choice: time for the three steps of the CA's rotation, of which the second waits for jobs. A certificate never ends after its CA.
ALARM_DAYS = 180
_PATH: DataPath = ("secrets",)


def authority_findings(environment: Environment, stored: Mapping[str, str], now: datetime) -> Iterator[Finding]:
    """Yield what prevents the CA from signing, or will soon. `stored`: the store's secrets; an absent CA is generated."""
    authority = stored.get(AUTHORITY)
    if authority is None or not has_site_tls(environment):
        return
    try:
        certificate = read_authority("\n".join(certificates_in(authority)).encode(), now)
        check_pair(authority.encode(), next(iter(keys_in(authority)), "").encode())
    except CertificateError as problem:
        fix = (
            "write private key and certificate of the CA, in PEM and without a password, with landbridge secrets import"
        )
        yield Finding("site-ca", f"the secret {AUTHORITY} cannot sign certificates: {problem}", _PATH, fix)
        return
    if certificate.not_valid_after_utc - now < timedelta(days=ALARM_DAYS):
        message = f"the CA of the site's servers ends on {certificate.not_valid_after_utc:%F}"
        fix = "rotate it: docs/how-to/rotate-a-secret.md"
        yield Finding("site-ca", message, _PATH, fix, severity=Severity.WARNING)
