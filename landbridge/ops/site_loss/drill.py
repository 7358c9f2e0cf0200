"""Drill of a site's loss: assets with their copies, findings, and the steps of both directions with their durations. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from landbridge.catalog.site_loss import WAYS, Way
from landbridge.environment import Environment
from landbridge.findings import Finding
from landbridge.ops.site_loss.assets import SiteAsset, site_assets
from landbridge.ops.site_loss.records import Progress
from landbridge.ops.site_loss.steps import PlannedStep, WayDuration, planned_steps, way_duration
from landbridge.plan.network.hosts import service_hosts

#: Name of the dump of a fenced control plane, as the role slurm_database writes it.
FINAL_DUMP = "final.sql.gz"
_NO_HOST = "STORAGE_HOST"
#: First login host of services in AWS, which mounts the home file system with root's rights (plan/site/home_directories.py).
_HOME_HOST_IN_AWS = "login01"


@dataclass(frozen=True, slots=True)
class SiteLossDrill:
    """Drill of an environment's site. `steps` have the names of the environment, `progress` the records of earlier runs."""

    assets: tuple[SiteAsset, ...]
    steps: Mapping[Way, tuple[PlannedStep, ...]]
    progress: Mapping[Way, Progress]

    @property
    def lost_hours(self) -> float:
        """Return the recovery point: the hours of changes that are lost at most, of the assets that have a copy."""
        return max((asset.lost_hours or 0.0 for asset in self.assets), default=0.0)

    def duration(self, way: Way) -> WayDuration:
        """Return the duration of a direction: measured and documented seconds, and the steps with neither."""
        return way_duration(self.steps.get(way, ()), self.progress[way])

    def findings(self) -> tuple[Finding, ...]:
        """Return the finding of each asset without a copy, or with one that is not locked."""
        return tuple(finding for asset in self.assets if (finding := asset.finding()) is not None)

    def to_dict(self) -> dict[str, Any]:
        """Return plain data, for `--format json`."""
        return {
            "assets": [
                {
                    "kind": asset.kind,
                    "name": asset.name,
                    "host": asset.host,
                    "data_classes": list(asset.classes),
                    "copy": asset.copy.place if asset.copy is not None else None,
                    "locked": asset.copy is not None and asset.copy.locked,
                    "lost_hours": asset.lost_hours,
                }
                for asset in self.assets
            ],
            "steps": {way: [step.to_dict(self.progress[way]) for step in steps] for way, steps in self.steps.items()},
            "measured": {way: self.progress[way].to_dict() for way in self.steps},
            "lost_hours": self.lost_hours,
            "durations": {way: self.duration(way).to_dict() for way in self.steps},
        }


def site_loss(
    environment: Environment,
    *,
    file: str = "",
    dumps: str = "dumps",
    slurm_dump: str | None = None,
    progress: Mapping[Way, Progress] | None = None,
) -> SiteLossDrill:
    """Return the drill of an environment; without assets if its services are in AWS. `dumps`: the folder of the dumps, and
    `slurm_dump` the name of the newest one of Slurm's database in it.
    """
    assets = tuple(site_assets(environment))
    copies = [asset.copy.place.split()[0] for asset in assets if asset.kind == "mlflow-database" and asset.copy]
    fetch = (
        " && ".join(f"aws s3 cp --recursive {place} {dumps}/mlflow" for place in copies)
        or "from the place of your copies"
    )
    names = {
        "environment": environment.name,
        "file": file or f"stacks/Pulumi.{environment.name}.yaml",
        "fetch": fetch,
        "dumps": dumps,
        "slurm_dump": slurm_dump or "DUMP.sql.gz",
        "home_host": _HOME_HOST_IN_AWS,
        "site_home_host": (service_hosts(environment).storage if environment.onprem is not None else None) or _NO_HOST,
    }
    steps: dict[Way, tuple[PlannedStep, ...]] = {
        "recovery": planned_steps("recovery", names),
        "return": planned_steps("return", {**names, "slurm_dump": FINAL_DUMP}),
    }
    records = {way: (progress or {}).get(way, Progress()) for way in WAYS}
    return SiteLossDrill(assets, steps if assets or records["recovery"].records else {}, records)
