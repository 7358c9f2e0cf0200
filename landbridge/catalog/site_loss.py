"""Facts of the drill of a site's loss (site_loss.yaml)."""

from collections.abc import Mapping
from datetime import date
from functools import cache

from pydantic import Field

from landbridge.catalog.files import Facts, read


class SiteAssetFacts(Facts):
    """Asset of a site. `every_hours`: the interval of its dumps; None: it has no dump. `required`: whether a control plane in
    AWS needs it, or else a rerun or the bill replaces it.
    """

    content: str
    required: bool
    folder: str = ""
    calendar: str = ""
    every_hours: float | None = None


class RecoveryStep(Facts):
    """Step of the recovery. `seconds`: its measured duration in the lab; None: no test measures it."""

    text: str
    command: str
    seconds: float | None = None


class SiteLossFacts(Facts):
    """Assets by name, and the steps in their order."""

    source: str
    as_of: date = Field(alias="date")
    assets: Mapping[str, SiteAssetFacts]
    steps: Mapping[str, RecoveryStep]


@cache
def site_loss_facts() -> SiteLossFacts:
    """Return the facts of the drill."""
    return read("site_loss", SiteLossFacts)
