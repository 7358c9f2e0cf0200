"""Facts of the drill of a site's loss (site_loss.yaml)."""

from collections.abc import Mapping
from datetime import date
from functools import cache
from typing import Literal

from pydantic import Field

from landbridge.catalog.files import Facts, read

#: Location of a control plane.
Place = Literal["onprem", "aws"]
#: Direction of the drill: to AWS after the loss, or back to the rebuilt site.
Way = Literal["recovery", "return"]
WAYS: tuple[Way, ...] = ("recovery", "return")


class SiteAssetFacts(Facts):
    """Asset of a site. `every_hours`: the interval of its dumps; None: it has no dump. `required`: whether a control plane in
    AWS needs it, or else a rerun or the bill replaces it.
    """

    content: str
    required: bool
    folder: str = ""
    calendar: str = ""
    every_hours: float | None = None


class DocumentedSeconds(Facts):
    """Duration that the vendor of a service documents: at most these seconds, for `content`."""

    seconds: float
    content: str
    source: str
    as_of: date = Field(alias="date")


class RecoveryStep(Facts):
    """Step of the recovery or of the return. `argv`: the command that the drill runs; empty: an operator does the step, with
    the words of `operator`. `fences` and `starts`: the place whose control plane can no longer run, or runs from here on.
    `seconds`: its duration in the lab `test`; None: no test measures it. `documented`: that of a service in AWS, where a lab has none.
    """

    text: str
    argv: tuple[str, ...] = ()
    operator: str = ""
    fences: Place | None = None
    starts: Place | None = None
    point: bool = False
    seconds: float | None = None
    test: str = ""
    documented: DocumentedSeconds | None = None


class SiteLossFacts(Facts):
    """Assets by name, and the steps of both directions in their order."""

    source: str
    as_of: date = Field(alias="date")
    assets: Mapping[str, SiteAssetFacts]
    steps: Mapping[Way, Mapping[str, RecoveryStep]]


@cache
def site_loss_facts() -> SiteLossFacts:
    """Return the facts of the drill."""
    return read("site_loss", SiteLossFacts)
