"""A Slurm 24.11 that no role made is adopted: a job starts in AWS with its files, and the way back restores them."""

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from landbridge.environment import load_environment
from landbridge.plan.ansible.inventory import inventory
from landbridge.realise import wheel
from sandbox.aws_emulator.process import EmulatorProcess, running
from sandbox.demo.cluster import wait_for
from sandbox.nspawn import cleanup
from sandbox.nspawn import lab as whole
from sandbox.nspawn.layout import layout
from sandbox.nspawn.site import operator_address
from tests.roles.ansible_run import Played, connection, play
from tests.roles.slurm.existing_slurm_lab import ADDRESSES, FILES, FOLDER, HEAD, ONPREM, SITE, UID, ExistingSite, adopt
from tests.unit.aws_emulator.conftest import build, client_of
from tests.unit.burst.conftest import described

pytestmark = [pytest.mark.lab, pytest.mark.long, pytest.mark.timeout(1200)]

OPERATOR = operator_address(ONPREM)
ENDPOINT = f"{OPERATOR}:4591"


@dataclass(frozen=True)
class Adopted:
    """The site, its emulated EC2, and the folder of the operator."""

    site: ExistingSite
    cloud: EmulatorProcess
    folder: Path
    #: Contents of burst.json for the resources of the emulated EC2.
    config: dict[str, Any]

    @property
    def out(self) -> Path:
        return self.folder / "out"

    def alive(self) -> list[str]:
        """Return the addresses of the running instances."""
        states = ("pending", "running")
        return [instance["address"] for instance in self.cloud.control()["instances"] if instance["state"] in states]

    def converge(self) -> Played:
        """Configure the controller as `landbridge configure` does, with the resources of the emulated EC2."""
        loaded = load_environment(self.out / "Pulumi.physics-aws.yaml")
        assert loaded.environment is not None, loaded.findings
        planned = inventory(loaded.environment)
        assert planned["burst"]["hosts"] == [HEAD] and planned["slurm_controller"]["hosts"] == []
        config = {
            **self.config,
            "endpoint": f"http://{ENDPOINT}",
            "credentials_file": "/etc/landbridge/aws-credentials",
            "slurm_key_secret": None,  # the instance has the key already
        }
        variables = {
            **planned["all"]["vars"],
            **planned["burst"]["vars"],
            **planned["_meta"]["hostvars"][HEAD],
            **connection(self.site.lab),
            "ansible_host": ADDRESSES[HEAD],
            "burst_config": config,
            "burst_credentials": self.cloud.launch_credentials.read_text(),
            "burst_wheel": str(next((self.folder / "wheel").glob("*.whl"))),
            "burst_find_links": f"http://{OPERATOR}:3143/",
            "python_runtime_find_links": f"http://{OPERATOR}:3143/",
        }
        book = Path(__file__).parents[3] / "ansible" / "site.yml"
        groups = {
            group: {"hosts": {HEAD: {}} if group in ("burst", "onprem") else {}}
            for group in (*planned["all"]["children"], *planned["onprem"]["children"])
        }
        data = {"all": {"hosts": {HEAD: variables}, "children": groups}}
        return play(self.site.lab, self.folder, book, data, timeout=600).good()


@pytest.fixture(scope="module")
def adopted(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Adopted]:
    lab, folder = layout("landbridge-test-existing"), tmp_path_factory.mktemp("existing")
    cleanup.down(lab)
    try:
        whole.up(lab, SITE, lambda line: print(f"  {line}", file=sys.stderr))
        site = ExistingSite(lab)
        site.make()
        (folder / "wheel").mkdir()
        wheel.build(folder / "wheel")
        options = ["--require-credentials", "--netns", lab.netns, "--listen-netns", ENDPOINT, "--with-parent"]
        with running(folder / "cloud", *options) as cloud:
            yield Adopted(site, cloud, folder, described(cloud, build(client_of(cloud, "ec2"))))
    finally:
        cleanup.down(lab)


def test_the_controller_gets_the_burst_controller_and_keeps_everything_else(adopted: Adopted) -> None:
    site, copy = adopted.site, adopted.folder / "etc"
    copy.mkdir()
    for name in FILES:
        (copy / name).write_text(site.run(HEAD, "cat", f"{FOLDER}/{name}"))
    adopt(copy / "slurm.conf", adopted.out)
    traces = (
        "find /etc -xdev -type f ! -path '/etc/landbridge/*' ! -path '*/landbridge-burst.service' -exec sha256sum {} + | sort;"
        " dpkg-query -W -f '${Package} ${Version}\\n' | grep -E 'slurm|munge'; id slurm; hostname"
    )
    before = site.shell(HEAD, traces)
    adopted.converge()
    # Only the interpreter of the burst controller's programs is installed.
    assert site.shell(HEAD, traces) == before
    assert site.run(HEAD, "systemctl", "is-active", "landbridge-burst").strip() == "active"
    assert site.run(HEAD, "stat", "-c", "%u", "/var/lib/landbridge").strip() == str(UID)
    assert adopted.converge().changed == {HEAD: 0}


def test_the_patch_gives_the_running_slurm_the_pool(adopted: Adopted) -> None:
    site = adopted.site
    for path in adopted.out.iterdir():
        beside = path.name.startswith("landbridge") and path.name != "landbridge-hosts"
        site.put(HEAD, f"{FOLDER if beside else '/root'}/{path.name}", path.read_bytes(), "root")
    site.shell(HEAD, f"patch -p1 -d {FOLDER} < /root/slurm.diff && cat /root/landbridge-hosts >> /etc/hosts")
    site.shell(HEAD, "systemctl restart slurmctld && systemctl restart slurmd")
    states = wait_for("the nodes", site.states, lambda states: states.get(HEAD) == "idle", details=site.describe)
    assert states == {HEAD: "idle", **{f"p5-{number}": "idle~" for number in range(1, 5)}}
    shown = site.run(HEAD, "sinfo", "--all", "--noheader", "--format=%R %N")
    assert sorted(shown.splitlines()) == [f"batch {HEAD}", "p5 p5-[1-4]"]
    # Words of the site stay beside those that bursting needs.
    parameters = site.shell(HEAD, "scontrol show config | sed -n 's/^SlurmctldParameters *= //p'").strip()
    assert parameters.split(",")[0] == "power_save_interval=1" and "enable_configless" in parameters


def test_a_job_runs_on_an_instance_with_the_included_files(adopted: Adopted) -> None:
    site = adopted.site
    number = site.submit(
        "--partition=p5", "--nodelist=p5-1", "--gpus-per-node=8", script="echo $SLURM_JOB_GPUS on $SLURMD_NODENAME"
    )
    (address,) = wait_for("an instance", adopted.alive, lambda running: len(running) == 1, details=site.describe)
    site.boot("p5-1", address)
    wait_for("the job to end", lambda: site.job(number), lambda job: job == "COMPLETED p5-1", details=site.describe)
    output = site.run("inst01", "cat", f"/tmp/{number}.out")
    assert output.strip() == "0,1,2,3,4,5,6,7 on p5-1"
    assert site.run("inst01", "ls", "/run/slurm/conf").split().count("landbridge.conf") == 1


def test_jobs_of_the_site_stay_on_its_nodes(adopted: Adopted) -> None:
    site, launched = adopted.site, len(adopted.cloud.control()["instances"])
    number = site.submit()
    wait_for("the job", lambda: site.job(number), lambda job: job == f"COMPLETED {HEAD}", details=site.describe)
    assert len(adopted.cloud.control()["instances"]) == launched


def test_the_way_back_restores_the_files_of_the_site(adopted: Adopted) -> None:
    site = adopted.site
    site.shell(HEAD, "scontrol update PartitionName=p5 State=DRAIN")
    site.shell(HEAD, "scontrol update NodeName=p5-[1-4] State=POWER_DOWN_FORCE")
    wait_for("no instance", adopted.alive, lambda instances: not instances, details=site.describe)
    site.shell(HEAD, f"patch -R -p1 -d {FOLDER} < /root/slurm.diff && rm {FOLDER}/landbridge*.conf")
    site.shell(HEAD, "systemctl disable --now landbridge-burst; systemctl restart slurmctld; scontrol reconfigure")
    states = wait_for("the site's node", site.states, lambda states: set(states) == {HEAD}, details=site.describe)
    assert states == {HEAD: "idle"}
    assert site.files() == FILES
