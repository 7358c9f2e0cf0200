"""Session tags that IAM Roles Anywhere makes of a host's certificate, and those that STS refuses: then there is no session.

Source: IAM Roles Anywhere User Guide, "Certificate attribute mapping" (2026-11-29); two attributes of one name and the
refusal: aws/rolesanywhere-credential-helper#77 and #188.
"""

import re
from collections.abc import Iterator, Mapping, Sequence

from cryptography import x509

from landbridge.certificates.pem import certificate_of

#: Mapping rules of a profile on which no others are set: specifiers by the field of the certificate.
DEFAULT_RULES: Mapping[str, Sequence[str]] = {
    "x509Subject": ("*",),
    "x509Issuer": ("*",),
    "x509SAN": ("DNS", "URI", "Name/*"),
}


def session_tags(
    certificate: x509.Certificate, rules: Mapping[str, Sequence[str]] = DEFAULT_RULES
) -> Iterator[tuple[str, str]]:
    """Yield the tags of a session by their keys, such as `x509Subject/CN`. Of several alternative names of one kind the
    first is mapped.
    """
    for field, name in (("x509Subject", certificate.subject), ("x509Issuer", certificate.issuer)):
        yield from _mapped(field, name, rules.get(field, ()))
    try:
        names = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    except x509.ExtensionNotFound:
        return
    specifiers = rules.get("x509SAN", ())
    for kind, values in (
        ("DNS", names.get_values_for_type(x509.DNSName)),
        ("URI", names.get_values_for_type(x509.UniformResourceIdentifier)),
    ):
        if kind in specifiers and values:
            yield f"x509SAN/{kind}", values[0]
    for name in names.get_values_for_type(x509.DirectoryName)[:1]:
        inner = [specifier.removeprefix("Name/") for specifier in specifiers if specifier.startswith("Name/")]
        yield from _mapped("x509SAN/Name", name, inner)


def refused_tags(certificate: bytes, characters: str, fields: Sequence[str]) -> list[tuple[str, str]]:
    """Return the tags of these fields of a certificate in PEM whose values have other characters than a tag may have, by
    default rules. `characters` is the pattern of a value. Raises CertificateError.
    """
    tags = session_tags(certificate_of(certificate), {field: DEFAULT_RULES[field] for field in fields})
    return [(key, value) for key, value in tags if not re.fullmatch(characters, value)]


def _mapped(field: str, name: x509.Name, specifiers: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield the attributes of a name that have a short name; several of one kind are one tag, joined by a slash."""
    values: dict[str, list[str]] = {}
    for attribute in name:
        label = attribute.rfc4514_attribute_name
        if not label[0].isdigit() and ("*" in specifiers or label in specifiers):
            values.setdefault(label, []).append(str(attribute.value))
    for label, texts in values.items():
        yield f"{field}/{label}", "/".join(texts)
