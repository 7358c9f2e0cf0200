"""Rules about services of regions, and about legal regimes."""

from collections.abc import Iterator

from landbridge.catalog import regions
from landbridge.catalog.aws.limits import limits
from landbridge.catalog.aws.regions import services
from landbridge.catalog.regimes import obligations, regimes
from landbridge.environment import Environment
from landbridge.findings import DataPath, Finding, error, info
from landbridge.rules.environment_paths import REGION
from landbridge.rules.registry import rule


@rule
def service_not_in_region(environment: Environment) -> Iterator[Finding]:
    """The region has every service that the environment uses. Services that are not recorded are not checked.

    Source: the services' own lists of Regions, as in landbridge/catalog/regions.yaml.
    """
    region = regions().get(environment.region)
    if region is None:
        return
    for service, description, path in _used_services(environment):
        if service in services() and service not in region.services:
            region_names = sorted(name for name, region_facts in regions().items() if service in region_facts.services)
            nearest = [
                name for name in region_names if name.split("-")[0] == environment.region.split("-")[0]
            ] or region_names
            message = f"{environment.region} does not offer {description}"
            fix = f"use a region that does: {', '.join(nearest[:5])}" if nearest else None
            yield error(path, message, fix=fix, related=(REGION,))


@rule(suppressible=False)
def class_not_in_region(environment: Environment) -> Iterator[Finding]:
    """Data under a legal regime is in AWS only if the regime allows it: classified data in no region, ITAR in GovCloud.

    Source: the regimes' own citations, in landbridge/catalog/regimes.yaml; default deny.
    """
    for name, data_class in environment.data_classes.items():
        regime = regimes().get(data_class.regime or "")
        if regime is None or "aws" not in data_class.sites:
            continue
        path: DataPath = ("data_classes", name, "sites")
        related: tuple[DataPath, ...] = (("data_classes", name, "regime"), REGION)
        if regime.aws is None:
            message = f"data of class {name} must stay on-prem under {regime.title}"
            yield error(path, message, fix="write sites: [onprem]", related=related)
        elif environment.region in regions() and not regime.allows_region(environment.region):
            allowed = [region for region in regions() if regime.allows_region(region)]
            message = f"data under {regime.title} may not be in {environment.region} ({regime.citation})"
            fix = f"use sites: [onprem], or a region such as {', '.join(allowed[:4])}"
            yield error(path, message, fix=fix, related=related)
        for index, other in enumerate(data_class.regions):
            if other in regions() and not regime.allows_region(other):
                message = f"data under {regime.title} may not be in {other} ({regime.citation})"
                region_path: DataPath = ("data_classes", name, "regions", index)
                yield error(region_path, message, fix="remove it", related=related[:1])


@rule
def class_obligations(environment: Environment) -> Iterator[Finding]:
    """Regulated data in AWS has obligations besides its region, which this check cannot verify.

    Source: the regimes' own citations, in landbridge/catalog/regimes.yaml.
    """
    for name, data_class in environment.data_classes.items():
        regime = regimes().get(data_class.regime or "")
        if regime is None or regime.aws is None or "aws" not in data_class.sites or not regime.aws.only_with:
            continue
        meaning = "; ".join(obligations()[word] for word in regime.aws.only_with)
        message = f"data of class {name} may be in AWS only if: {meaning}"
        path: DataPath = ("data_classes", name, "regime")
        related: tuple[DataPath, ...] = (("data_classes", name, "sites"),)
        fix = "suppress this with a reason once the obligations are met"
        yield info(path, message, fix=fix, related=related)


def _used_services(environment: Environment) -> Iterator[tuple[str, str, DataPath]]:
    """Yield the catalogue name, the description and the path of each service in use. File systems have separate rules."""
    if environment.link is not None and environment.link.kind == "direct_connect":
        yield "direct_connect", "Direct Connect", ("link", "kind")
    if environment.aws.pools and environment.onprem is not None:
        yield "rolesanywhere", "IAM Roles Anywhere, which on-prem services need for credentials", REGION
    for index, pool in enumerate(environment.aws.pools):
        for number, capacity in enumerate(pool.capacity):
            # Types with recorded regions are checked by no-blocks-in-region.
            kind = capacity.instance or pool.instance
            if capacity.kind == "capacity_block" and kind not in limits().capacity_blocks.regions:
                path: DataPath = ("aws", "pools", index, "capacity", number, "kind")
                yield "capacity_block", "a Capacity Block", path
