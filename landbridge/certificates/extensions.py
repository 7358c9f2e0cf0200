"""Fields and extensions that certificates of a CA and of hosts share."""

from datetime import datetime, timedelta

from cryptography import x509

#: A certificate is valid from this time before it is issued, because the clocks of hosts differ.
BEFORE = timedelta(minutes=5)


def certificate_builder(
    subject: x509.Name, issuer: x509.Name, key: object, now: datetime, end: datetime
) -> x509.CertificateBuilder:
    """Return a certificate with a new serial number, without extensions and signature."""
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key)  # type: ignore[arg-type]
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - BEFORE)
        .not_valid_after(end)
    )


def key_usage(*, digital_signature: bool = False, key_cert_sign: bool = False, crl_sign: bool = False) -> x509.KeyUsage:
    """Return the extension key usage."""
    return x509.KeyUsage(
        digital_signature=digital_signature,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        key_cert_sign=key_cert_sign,
        crl_sign=crl_sign,
        encipher_only=False,
        decipher_only=False,
    )
