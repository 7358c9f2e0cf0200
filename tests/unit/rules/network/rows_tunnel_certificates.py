"""Mistakes with the certificates of tunnels."""

from datetime import date
from typing import Any

from landbridge.findings import DataPath
from tests.unit.rules.row import Row

CERTIFICATE: DataPath = ("link", "certificate")
ARN = "arn:aws:acm:us-east-1:123456789012:certificate/1234abcd"
AUTHORITY_ARN = "arn:aws:acm-pca:us-east-1:123456789012:certificate-authority/1234abcd"
#: A subordinate CA and its root, valid until 2066.
CHAIN = """-----BEGIN CERTIFICATE-----
MIIBkTCCATigAwIBAgIUGaC8RlDAoZuMaXSmpJTjFMrfjJkwCgYIKoZIzj0EAwIw
FDESMBAGA1UEAwwJYWNtZSByb290MCAXDTI2MDEwMTAwMDAwMFoYDzIwNjYwMTAx
MDAwMDAwWjAXMRUwEwYDVQQDDAxhY21lIHR1bm5lbHMwWTATBgcqhkjOPQIBBggq
hkjOPQMBBwNCAATR2+eVsujQ+AeDGOaIKVnhldiou7cOyHsoScFfJ05tT0RJU0w9
O3wUYscG2vIrEFpbRkHCJrH39oG6R+Boro0Uo2MwYTAPBgNVHRMBAf8EBTADAQH/
MA4GA1UdDwEB/wQEAwIBBjAdBgNVHQ4EFgQUX5IJWnQm2EE+0IVUL2oSmPFdMxow
HwYDVR0jBBgwFoAUU+FV7IAKIkChUgaoSoS02194U3EwCgYIKoZIzj0EAwIDRwAw
RAIgWe82P8o/m/n5hO2S589VSlaCX0T/ElikSc4AOovB8+oCICqkB2R8R8P0iS7F
nq82lDm9vPBjGsjJjT9utR0aoX+T
-----END CERTIFICATE-----
-----BEGIN CERTIFICATE-----
MIIBkDCCATWgAwIBAgIUJ240RYPpQuYdUdnppB11iTj8X3cwCgYIKoZIzj0EAwIw
FDESMBAGA1UEAwwJYWNtZSByb290MCAXDTI2MDEwMTAwMDAwMFoYDzIwNjYwMTAx
MDAwMDAwWjAUMRIwEAYDVQQDDAlhY21lIHJvb3QwWTATBgcqhkjOPQIBBggqhkjO
PQMBBwNCAAQyxf87K8wKQVEHXxzDpUlEJQSdgrpNovtbMiX+MRnm3YplUloB6Z3F
5oSiMVMpIzFmbTGhbpg6K2tOIJgJk6Xgo2MwYTAPBgNVHRMBAf8EBTADAQH/MA4G
A1UdDwEB/wQEAwIBBjAdBgNVHQ4EFgQUU+FV7IAKIkChUgaoSoS02194U3EwHwYD
VR0jBBgwFoAUU+FV7IAKIkChUgaoSoS02194U3EwCgYIKoZIzj0EAwIDSQAwRgIh
AKSNcfIxn3M7tuc87WDZAHJjw6VYXG00ERhCpcS1ZFiaAiEA4bx14k7KlbhZajaD
3nJO7hUS9q22M4H1uyj64tFWLHs=
-----END CERTIFICATE-----
"""
#: The root of CHAIN alone.
ROOT = CHAIN[CHAIN.index("-----BEGIN", 1) :]
#: The same subordinate CA with an end on 2026-12-31.
ENDING = """-----BEGIN CERTIFICATE-----
MIIBkDCCATagAwIBAgIUUD+c5vDeDwR93kQ4jnKfbfMCYLAwCgYIKoZIzj0EAwIw
FDESMBAGA1UEAwwJYWNtZSByb290MB4XDTI2MDEwMTAwMDAwMFoXDTI2MTIzMTAw
MDAwMFowFzEVMBMGA1UEAwwMYWNtZSB0dW5uZWxzMFkwEwYHKoZIzj0CAQYIKoZI
zj0DAQcDQgAE0dvnlbLo0PgHgxjmiClZ4ZXYqLu3Dsh7KEnBXydObU9ESVNMPTt8
FGLHBtryKxBaW0ZBwiax9/aBukfgaK6NFKNjMGEwDwYDVR0TAQH/BAUwAwEB/zAO
BgNVHQ8BAf8EBAMCAQYwHQYDVR0OBBYEFF+SCVp0JthBPtCFVC9qEpjxXTMaMB8G
A1UdIwQYMBaAFFPhVeyACiJAoVIGqEqEtNtfeFNxMAoGCCqGSM49BAMCA0gAMEUC
IQCyydhSr8e6smKBI0OdYGQVOZaxDS1Wz0M/DwzfJZ1AjAIgTrWJcrzzQxXH04ba
s+WDg8i5MWP8aO3fP9zOg1EqXrw=
-----END CERTIFICATE-----
"""


def certificate(**changes: Any) -> dict[DataPath, Any]:
    """Return the change for certificates of tunnels."""
    return {CERTIFICATE: {"arn": ARN, "authority_arn": AUTHORITY_ARN, "authorities": CHAIN, **changes}}


AUTHORITIES: DataPath = (*CERTIFICATE, "authorities")
# fmt: off
ROWS = [
    Row("tunnel-certificate-place", "a certificate of tunnels in another region", certificate(arn=ARN.replace("us-east-1", "eu-west-1")), (*CERTIFICATE, "arn"), "of eu-west-1"),
    Row("tunnel-certificate-place", "a CA of tunnels in another account", {**certificate(), ("aws", "account"): "210987654321"}, (*CERTIFICATE, "authority_arn"), "Resource Access Manager"),
    Row("tunnel-certificate-times", "a gateway's certificate that is renewed in every run", certificate(days=30), (*CERTIFICATE, "renew_days"), "in every run"),
    Row("tunnel-certificate-times", "an alarm before the renewal of a gateway's certificate", certificate(alarm_days=60), (*CERTIFICATE, "alarm_days"), "before it is due"),
    Row("tunnel-authority", "a name instead of the CAs' certificates", certificate(authorities="acme tunnels"), AUTHORITIES, "no PEM certificate"),
    Row("tunnel-authority", "a root CA that issues certificates of tunnels", certificate(authorities=ROOT), AUTHORITIES, "not that of a subordinate CA"),
    Row("tunnel-authority-end", "a CA of tunnels that ends in a month", certificate(authorities=ENDING + ROOT), AUTHORITIES, "expires on 2026-12-31", today=date(2026, 11, 26)),
    Row("tunnel-authority-end", "an expired CA of tunnels", certificate(authorities=ENDING + ROOT), AUTHORITIES, "expired on 2026-12-31", today=date(2027, 1, 1)),
    Row("tunnel-authority-key", "a CA's private key in the file", certificate(authorities=CHAIN + "-----BEGIN PRIVATE KEY-----"), AUTHORITIES, "private key"),
]
# fmt: on
