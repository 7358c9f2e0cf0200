"""Judgement of the certificate of a gateway's tunnels, at the time of its clock. Pure."""

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

from landbridge.ops.netcheck.gateway_facts import GatewayFacts, MissingFactError
from landbridge.ops.netcheck.result import LinkResult, Subject
from landbridge.plan.site.link.expectations import GatewayExpectation

_DAY_SECONDS = 86400


def certificate_results(gateway: GatewayExpectation, data: Mapping[str, Any]) -> Iterator[LinkResult]:
    """Yield the result of a gateway's certificate; none with pre-shared keys."""
    if not gateway.certificate:
        return
    subject = Subject("certificate", gateway.host, gateway.certificate)
    try:
        name, end = GatewayFacts(data).parsed("certificate", end_of)
    except MissingFactError as error:
        yield subject.unjudged(str(error))
        return
    left, until = end - float(data["time"]), f"{datetime.fromtimestamp(end, UTC):%F %R}"
    if name != gateway.certificate:
        yield subject.fault("certificate-untrusted", f"the certificate is that of {name}")
    elif left <= 0:
        yield subject.fault("certificate-expired", f"it ended on {until} (UTC)")
    elif left < gateway.alarm_days * _DAY_SECONDS:
        yield subject.fault("certificate-ends-soon", f"it ends on {until} (UTC)")
    else:
        yield subject.passed(f"valid until {until} (UTC)")


def end_of(text: str) -> tuple[str, float]:
    """Return common name and end of a certificate in the output of `openssl x509`. Raises KeyError, ValueError."""
    values = {key.strip(): value.strip() for key, _, value in (line.partition("=") for line in text.splitlines())}
    # openssl prints `notAfter=Feb 23 02:15:51 2027 GMT`, in English for every locale.
    end = datetime.strptime(values["notAfter"], "%b %d %H:%M:%S %Y GMT").replace(tzinfo=UTC)
    return values["commonName"], end.timestamp()
