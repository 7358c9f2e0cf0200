"""Alerts of the whole cluster: real Prometheus and Alertmanager, injected faults, and the commands of the runbook that mend them.

The alerts wait for seconds instead of minutes (variable prometheus_minute of the role prometheus); expressions, inhibitions and services are the product's.
"""

import time
from collections.abc import Iterator

import pytest

from sandbox.demo.bring_up import BringUp
from sandbox.demo.cluster import wait_for
from tests.e2e.support import gpu_exporter
from tests.e2e.support.alert_faults import FAULTS, Fault, bursting
from tests.e2e.support.full_disk import unmount
from tests.e2e.support.monitored_site import MonitoredSite
from tests.e2e.support.ordinary_work import OrdinaryWork

# The first test brings the cluster up, and configures its monitoring.
pytestmark = [pytest.mark.lab, pytest.mark.engine, pytest.mark.long, pytest.mark.timeout(7200)]

#: Rounds of ordinary work: an hour, at 75 seconds a round. Alerts that wait for a minute wait for a second here.
ROUNDS = 48


@pytest.fixture(scope="module")
def site(deployment: BringUp) -> Iterator[MonitoredSite]:
    """Yield the cluster with short waiting times of its alerts; restore them afterwards."""
    monitored = MonitoredSite(deployment)
    monitored.configure_monitoring()
    gpu_exporter.start(monitored)
    monitored.run("db01", "systemctl start landbridge-slurm-dump")
    monitored.run("mlops01", "systemctl start landbridge-mlflow-dump")
    yield monitored
    unmount(monitored)
    gpu_exporter.remove(monitored)
    monitored.landbridge_configure("--tags", "monitoring")


def test_every_planned_target_is_up_and_no_alert_fires_while_jobs_run_at_both_sites(site: MonitoredSite) -> None:
    wait_for(
        "every target to be up",
        lambda: sorted(key for key, health in site.targets().items() if health != "up"),
        lambda missing: not missing and site.targets(),
        every=1,
    )
    site.quiet()
    user = bursting(site)
    for _ in range(3):
        numbers = {
            user.submit("--nodes=2", "--partition=onprem", script="sleep 20"),
            user.submit("--nodes=2", script="sleep 20"),
        }
        while not all(user.job(number).finished for number in numbers):
            assert site.firing() == set()
    assert {user.job(number).state for number in numbers} == {"COMPLETED"}
    user.wait_for("every instance to end", lambda: (site.firing(), user.alive()), lambda seen: seen[0] or not seen[1])
    assert site.firing() == set()


def test_an_hour_of_ordinary_work_raises_no_alert(site: MonitoredSite) -> None:
    # The kernel counts the processes that it ends for lack of memory for the whole machine: also those of another lab's jobs.
    of_the_machine = {"OutOfMemory"}

    def fired() -> set[str]:
        return {name for name, _ in site.firing()} - of_the_machine

    def look() -> None:
        assert fired() == set(), site.prometheus("alerts")

    wait_for("no alert", lambda: fired() | site.pending() - of_the_machine, lambda names: not names, every=1)
    work = OrdinaryWork(site, look)
    for number in range(ROUNDS):
        work.round(number)
        print(f"round {number + 1} of {ROUNDS}")
    wait_for("no alert", lambda: fired() | site.pending() - of_the_machine, lambda names: not names, every=1)


@pytest.mark.parametrize("fault", FAULTS, ids=[fault.name for fault in FAULTS])
def test_a_fault_raises_exactly_its_alert_and_the_runbook_mends_it(site: MonitoredSite, fault: Fault) -> None:
    site.quiet()
    expected = {(fault.alert, fault.node), *fault.also}
    began = time.monotonic()
    fault.inject(site)
    try:
        # Consequences would wait for their time too: the alerts are complete when none waits.
        wait_for(
            f"{expected}",
            lambda: (site.firing(), site.pending()),
            lambda seen: expected <= seen[0] and not seen[1] - {alert for alert, _ in expected},
            every=1,
        )
        print(f"{fault.alert} after {time.monotonic() - began:.0f} s")
        assert site.firing() == expected
    finally:
        fault.repair(site)
    site.quiet()
