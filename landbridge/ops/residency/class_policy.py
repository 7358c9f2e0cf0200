"""Policy of each data class: the locations where its data may be. Every check of the proof compares with it."""

from dataclasses import dataclass

from landbridge.catalog.regimes import regimes
from landbridge.environment import Environment
from landbridge.findings import DataPath
from landbridge.ops.residency.graph import ONPREM, DataPlace, in_words
from landbridge.plan.placement.service_control_policy import class_regions


@dataclass(frozen=True, slots=True)
class ClassPolicy:
    """Locations of a data class: `onprem` and regions of AWS. `accounts` are the Slurm accounts of its jobs."""

    name: str
    locations: tuple[str, ...]
    accounts: tuple[str, ...]

    @property
    def path(self) -> DataPath:
        """Return the position of the class in the environment file."""
        return ("data_classes", self.name)

    @property
    def regions(self) -> tuple[str, ...]:
        """Return the regions of AWS, the environment's own first."""
        return tuple(location for location in self.locations if location != ONPREM)

    def refusal(self, place: DataPlace) -> str | None:
        """Return the reason why data of the class may not be in a place; None if it may."""
        if place.location not in self.locations:
            where = " or ".join(map(in_words, self.locations)) or "nowhere"
            return f"data of class {self.name} may be {where} only"
        if place.data_class not in (None, self.name):
            return f"it is for {f'class {place.data_class}' if place.data_class else 'no data'} only"
        return None


def class_policies(environment: Environment) -> dict[str, ClassPolicy]:
    """Return the policy of every class. The region of a class's own replica is permitted, unless its regime forbids it."""
    policies = {}
    for name, data_class in environment.data_classes.items():
        regime = regimes().get(data_class.regime or "")
        onprem = (ONPREM,) if "onprem" in data_class.sites and (regime is None or regime.onprem != "no") else ()
        hub_class = environment.storage.data_hub.classes.get(name)
        replica = hub_class.replica_region if hub_class is not None and "aws" in data_class.sites else None
        copies = (replica,) if replica is not None and (regime is None or regime.allows_region(replica)) else ()
        accounts = environment.scheduler.accounts.items()
        policies[name] = ClassPolicy(
            name,
            tuple(dict.fromkeys((*onprem, *class_regions(environment, name), *copies))),
            tuple(account for account, settings in accounts if settings.data_class == name),
        )
    return policies
