"""Forms of secrets by which texts are searched (secret_forms.yaml)."""

from collections.abc import Mapping
from datetime import date
from functools import cache

from pydantic import Field

from landbridge.catalog.files import Facts, read


class SecretForm(Facts):
    """Regular expression of a secret; its group `secret` is the part to remove, or the whole match without one."""

    pattern: str
    use: str


class SecretForms(Facts):
    """Forms by name."""

    source: str
    as_of: date = Field(alias="date")
    forms: Mapping[str, SecretForm]


@cache
def secret_forms() -> SecretForms:
    """Return the forms of secrets."""
    return read("secret_forms", SecretForms)
