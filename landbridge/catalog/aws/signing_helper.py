"""Credential helper of IAM Roles Anywhere: its Go module, and the programs that AWS publishes (signing_helper.yaml)."""

from collections.abc import Mapping
from datetime import date
from functools import cache

from landbridge.catalog.files import Facts, read


class PublishedHelper(Facts):
    """Program that AWS publishes for one machine type."""

    version: str
    url: str
    sha256: str


class SigningHelper(Facts):
    """Facts of signing_helper.yaml. `sum` is the module's hash as go.sum writes it; `published` is by machine type."""

    source: str
    date: date
    module: str
    version: str
    sum: str
    go: str
    published: Mapping[str, PublishedHelper]


@cache
def signing_helper() -> SigningHelper:
    """Return the facts of the credential helper (cached)."""
    return read("signing_helper", SigningHelper)
