"""Size of service control policies, and actions of global services (service_control_policies.yaml)."""

from datetime import date
from functools import cache

from pydantic import Field

from landbridge.catalog.files import Facts, read


class ServiceControlPolicyFacts(Facts):
    """Facts of service control policies. `characters`: maximum size of a document."""

    source: str
    as_of: date = Field(alias="date")
    characters: int
    global_actions: tuple[str, ...]


@cache
def service_control_policy_facts() -> ServiceControlPolicyFacts:
    """Return the facts (cached)."""
    return read("service_control_policies", ServiceControlPolicyFacts)
