"""Secrets of a site: their names, and the form of those that Landbridge generates (site_secrets.yaml)."""

import string
from collections.abc import Mapping
from datetime import date
from functools import cache
from typing import Literal

from pydantic import Field

from landbridge.catalog.files import Facts, read

_CHARACTERS = {
    "mixed": string.ascii_letters + string.digits,
    # Without capitals, for a keyboard whose layout is not known.
    "typed": string.ascii_lowercase + string.digits,
}


class GeneratedSecret(Facts):
    """Form of a generated secret, and the object that has a value of its own: characters, or key and certificate of a CA."""

    form: Literal["characters", "authority"] = "characters"
    length: int = 0
    characters: Literal["mixed", "typed"] = "mixed"
    use: str
    per: Literal["site", "server", "user", "class", "store", "monitoring", "caller", "canary", "copies"] = "site"

    @property
    def alphabet(self) -> str:
        """Return the characters of its value."""
        return _CHARACTERS[self.characters]


class OptionalSecret(Facts):
    """Secret that only some sites have."""

    use: str


class SiteSecrets(Facts):
    """Secrets by name, or by the start of the name of those that are not `per` site."""

    source: str
    as_of: date = Field(alias="date")
    generated: Mapping[str, GeneratedSecret]
    optional: Mapping[str, OptionalSecret]


@cache
def site_secrets() -> SiteSecrets:
    """Return the secrets of a site."""
    return read("site_secrets", SiteSecrets)


def form_of(name: str) -> GeneratedSecret | None:
    """Return the form of a generated secret by its name, mlflow-user-bob for the user bob; None for another name."""
    for known, form in site_secrets().generated.items():
        is_alone = form.per not in ("user", "class", "caller")
        if (name == known and is_alone) or (
            form.per in ("server", "user", "class", "caller") and name.startswith(f"{known}-")
        ):
            return form
    return None
