"""Drill of a site's loss: assets with their copies, findings, and the steps with their measured durations. Pure."""

from dataclasses import dataclass
from typing import Any

from landbridge.catalog.site_loss import RecoveryStep, site_loss_facts
from landbridge.environment import Environment
from landbridge.findings import Finding
from landbridge.ops.site_loss.assets import SiteAsset, site_assets


@dataclass(frozen=True, slots=True)
class SiteLossDrill:
    """Drill of an environment's site. `steps` have the names of the environment."""

    assets: tuple[SiteAsset, ...]
    steps: tuple[RecoveryStep, ...]

    @property
    def lost_hours(self) -> float:
        """Return the recovery point: the hours of changes that are lost at most, of the assets that have a copy."""
        return max((asset.lost_hours or 0.0 for asset in self.assets), default=0.0)

    @property
    def measured_seconds(self) -> float:
        """Return the recovery time of the steps that a lab test measures."""
        return sum(step.seconds or 0.0 for step in self.steps)

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
            "steps": [step.model_dump() for step in self.steps],
            "lost_hours": self.lost_hours,
            "measured_seconds": self.measured_seconds,
        }


def site_loss(environment: Environment) -> SiteLossDrill:
    """Return the drill of an environment; without assets if its services are in AWS."""
    assets = tuple(site_assets(environment))
    copies = [asset.copy.place.split()[0] for asset in assets if asset.kind == "mlflow-database" and asset.copy]
    fetch = " && ".join(f"aws s3 cp --recursive {place} dumps/" for place in copies) or "from the place of your copies"
    words = {"environment": environment.name, "fetch": fetch}
    steps = tuple(
        step.model_copy(update={"command": step.command.format_map(words)}) for step in site_loss_facts().steps.values()
    )
    return SiteLossDrill(assets, steps if assets else ())
