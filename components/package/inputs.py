"""What every hosted component needs to know, and how wrong values are told."""

from collections.abc import Callable
from typing import NotRequired, TypedDict, TypeVar

import pulumi

from landbridge.findings import FindingsError, path_text

T = TypeVar("T")


class OwnedInputs(TypedDict):
    """Whose it is: the tags on everything."""

    cluster: str
    """The cluster's name: the beginning of every name, and a tag."""
    region: str
    """The region of the AWS provider that is given."""
    owner: str
    """Who is asked about it."""
    cost_center: str
    """Who pays."""
    onprem_cidr: NotRequired[str]
    """The addresses on-prem; nothing else is let in."""


def planned(what: str, plan: Callable[[], T]) -> T:
    """Plan, and tell what is wrong as problems of the inputs, before anything is registered."""
    try:
        return plan()
    except FindingsError as error:
        problems = [
            {"property_path": path_text(finding.path) or "args", "reason": finding.message}
            for finding in error.findings
        ]
    except (KeyError, ValueError) as error:
        problems = [{"property_path": "args", "reason": str(error)}]
    raise pulumi.InputPropertiesError(what, problems)  # type: ignore[arg-type]
