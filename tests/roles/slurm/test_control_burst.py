"""Bursting with two controllers: after a power cut of the active one the other continues with the launched nodes."""

import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from landbridge.plan.ansible.inventory import inventory
from landbridge.plan.slurm.controller_pair import state_folder
from landbridge.realise import wheel
from sandbox.aws_emulator.process import EmulatorProcess, running
from sandbox.demo.cluster import ClusterError, wait_for
from sandbox.nspawn import cleanup
from sandbox.nspawn import lab as whole
from sandbox.nspawn.layout import layout
from sandbox.nspawn.machine import nodes
from sandbox.nspawn.site import operator_address
from tests.roles.slurm import controller_pair_lab as pair
from tests.roles.slurm.controller_pair_lab import Jobs
from tests.unit.aws_emulator.conftest import build, client_of
from tests.unit.burst.conftest import described

pytestmark = [pytest.mark.lab, pytest.mark.long]

OPERATOR = operator_address(pair.ONPREM)
ENDPOINT = f"{OPERATOR}:4590"
POOL = {"name": "p5", "instance": "p5.48xlarge", "max_nodes": 4}
UNIT = "landbridge-burst.service"


@dataclass(frozen=True)
class Pair:
    """The cluster, and the emulated EC2 of its controllers; its instances are records only."""

    jobs: Jobs
    cloud: EmulatorProcess

    def launches(self) -> int:
        return int(self.cloud.control()["calls"].get("RunInstances", 0))

    def alive(self) -> list[str]:
        return [
            instance["id"]
            for instance in self.cloud.control()["instances"]
            if instance["state"] in ("pending", "running")
        ]

    def last_role(self, host: str) -> str:
        """Return the last log line of the host's burst controller about its role; "" while the host boots."""
        try:
            words = self.jobs.run(host, "journalctl", "-u", UNIT, "-o", "cat", "--no-pager").splitlines()
        except ClusterError:
            return ""
        return next((word for word in reversed(words) if word in ("acting", "standing by")), "")

    def submit(self) -> int:
        words = ["--parsable", "--partition=p5", "--nodes=2", "--gpus-per-node=8", "--time=9", "--chdir=/tmp"]
        return int(self.jobs.run("dgx01", "sbatch", *words, "--wrap", "sleep 600", user="alice").strip())

    def give_up(self, number: int) -> None:
        """Cancel a job and power down its nodes: Slurm would wait for their boot, which never comes."""
        self.jobs.run("dgx01", "scancel", str(number))
        self.jobs.run("dgx01", "scontrol", "update", "nodename=p5-[1-4]", "state=power_down_force")
        wait_for("the instances to end", self.alive, lambda instances: not instances, details=self.jobs.describe)


@pytest.fixture(scope="module")
def two(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pair]:
    lab, folder = layout("landbridge-test-control-burst"), tmp_path_factory.mktemp("control-burst")
    cleanup.down(lab)
    try:
        whole.up(lab, pair.site())
        options = ["--require-credentials", "--netns", lab.netns, "--listen-netns", ENDPOINT, "--with-parent"]
        with running(folder / "cloud", *options) as cloud:
            jobs = Jobs(lab)
            _configure(jobs, cloud, folder)
            yield Pair(jobs, cloud)
    finally:
        cleanup.down(lab)


def _configure(jobs: Jobs, cloud: EmulatorProcess, folder: Path) -> None:
    chosen = pair.site_environment(folder, "26.05", ["ctl01", "ctl02"], [POOL])
    config: dict[str, Any] = described(cloud, build(client_of(cloud, "ec2")))
    config |= {
        "endpoint": f"http://{ENDPOINT}",
        "credentials_file": "/etc/landbridge/aws-credentials",
        "slurm_key_secret": None,  # no node queries it here
        "snapshot_dir": f"{state_folder(chosen)}/landbridge-burst",
    }
    extra_variables = {
        "burst_config": config,
        "burst_snapshot_mount": inventory(chosen)["burst"]["vars"]["burst_snapshot_mount"],
        "burst_credentials": cloud.launch_credentials.read_text(),
        "burst_wheel": str(wheel.build(folder)),
        "burst_find_links": f"http://{OPERATOR}:3143/",
    }
    pair.configure(jobs.lab, chosen, folder / "control.yml", first=["burst"], extra_variables=extra_variables)


def test_one_of_the_two_is_active(two: Pair) -> None:
    wait_for("the first to act", lambda: two.last_role("ctl01"), lambda word: word == "acting")
    assert two.last_role("ctl02") != "acting"


def test_the_second_continues_with_instances_that_the_first_launched(two: Pair) -> None:
    number = two.submit()
    wait_for("two instances", two.alive, lambda instances: len(instances) == 2, details=two.jobs.describe)
    before, launched = two.alive(), two.launches()
    time.sleep(12)  # until slurmctld has written the queue, as a crash loses what is newer
    nodes.power_cut(two.jobs.lab, "ctl01")
    wait_for(
        "the second to act", lambda: two.last_role("ctl02"), lambda word: word == "acting", details=two.jobs.describe
    )
    time.sleep(40)  # two passes
    assert (two.alive(), two.launches()) == (before, launched), "neither terminated nor launched again"
    words = two.jobs.run("ctl02", "journalctl", "-u", UNIT, "-o", "cat", "--no-pager")
    assert "continues from the other controller's journal" in words
    two.give_up(number)


def test_after_the_first_returns_only_one_is_active(two: Pair) -> None:
    nodes.boot(two.jobs.lab, "ctl01")
    wait_for(
        "the first to act",
        lambda: (two.last_role("ctl01"), two.last_role("ctl02")),
        lambda words: words == ("acting", "standing by"),
        details=two.jobs.describe,
    )
    launched = two.launches()
    number = two.submit()
    wait_for("two instances", two.alive, lambda instances: len(instances) == 2, details=two.jobs.describe)
    time.sleep(40)
    assert two.launches() == launched + 1
    two.give_up(number)
