"""Repairs of `landbridge health step`: by playbooks of the operator's machine, or by the forced commands of the site's timers."""

import json
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from landbridge.acceptance.climb import Runner
    from landbridge.acceptance.rungs import Rung
    from landbridge.environment import Environment
    from landbridge.ops.gpu_health.act import Repairs
    from landbridge.ops.gpu_health.values import HealthAction
    from landbridge.ops.host_access import ForcedCommand

PLAYBOOK = Path("ansible/playbooks/repair_node.yml")


def repairs_of(environment: "Environment", path: Path, folder: Path, thresholds: Path | None) -> "Repairs":
    """Return the repairs. `folder`: of the results of retests; `path`: the environment file."""
    from landbridge.acceptance.rung_job import asking_runner, retest_rungs
    from landbridge.acceptance.rungs import AcceptanceSettings
    from landbridge.acceptance.runners import NodeRunner, srun_runner
    from landbridge.acceptance.site import environment_site
    from landbridge.cli.validate import site_thresholds
    from landbridge.ops.gpu_health.act import Repairs
    from landbridge.ops.host_access import forced_command

    given = site_thresholds(thresholds)
    access = forced_command()

    def play(action: "HealthAction") -> tuple[bool | None, str] | None:
        if access is not None:
            return _ask(environment, access, action)
        return _play(environment, path, action)

    def retest(action: "HealthAction", reservation: str) -> tuple[bool | None, str]:
        site, settings = environment_site(environment, action.node), AcceptanceSettings()
        if access is not None:
            runner = asking_runner()
        else:
            runner = srun_runner(
                NodeRunner(
                    site.ssh, site.privileged, site.gpus, settings, reservation=reservation, partition=site.partition
                )
            )
        return _climbed(environment, folder, action.node, runner, given, retest_rungs())

    return Repairs(play, retest)


def _play(environment: "Environment", path: Path, action: "HealthAction") -> tuple[bool | None, str]:
    from landbridge.cli.display.configure import ConfigureDisplay
    from landbridge.realise import configure as realise

    variables = {"step": str(action.step), "gpus": ",".join(action.gpus)}
    with ConfigureDisplay(environment.name) as show:
        result = realise.configure(environment, path, show, playbook=PLAYBOOK, limit=action.node, variables=variables)
    return result.successful, "; ".join(failure.message for failure in result.failures)[:200]


def _ask(environment: "Environment", access: "ForcedCommand", action: "HealthAction") -> tuple[bool | None, str] | None:
    """Ask the node's own program. A restart that has begun has no result yet: a later pass observes the node's start."""
    from landbridge.ops.gpu_health.values import HealthStep

    is_reset = action.step is HealthStep.RESET
    words = f"reset {','.join(action.gpus)}" if is_reset else "reboot"
    done, detail = access.repair(environment.host_addresses()[action.node], words)
    return None if done and not is_reset else (done, detail)


def _climbed(
    environment: "Environment",
    folder: Path,
    node: str,
    runner: "Runner",
    thresholds: dict[str, float],
    rungs: "tuple[Rung, ...]",
) -> tuple[bool | None, str]:
    from landbridge.acceptance.climb import Ladder, climb
    from landbridge.acceptance.rungs import AcceptanceSettings
    from landbridge.acceptance.site import environment_site

    site = environment_site(environment, node)
    report = climb(Ladder(site.name, site.platforms, runner, AcceptanceSettings(), thresholds, rungs=rungs))
    (folder / f"retest-{node}.json").write_text(json.dumps(report.json(), indent=1, default=str) + "\n")
    failures = [f"{outcome.rung} {outcome.status} {outcome.message}".strip() for outcome in report.outcomes]
    detail = "; ".join(text for text in failures if " passed" not in text)[:200]
    return {"passed": True, "failed": False}.get(report.status), detail
