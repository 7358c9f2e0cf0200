"""Role dataset_cache in the image of nodes in AWS: boots with and without a disk of the pool, and jobs with the credentials of their role."""

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from ipaddress import IPv4Network
from pathlib import Path
from shlex import quote
from typing import Any

import pytest

from landbridge.plan.aws.pool import POOL_FILE
from landbridge.plan.roles.hosts.data_mover import SLURM_CONF
from landbridge.plan.roles.nodes.dataset_cache import cloud_dataset_cache_variables
from sandbox.aws_emulator.process import EmulatorProcess, running
from sandbox.demo.cluster import LabCluster, wait_for
from sandbox.nspawn import cleanup
from sandbox.nspawn import lab as whole
from sandbox.nspawn.layout import Layout, layout
from sandbox.nspawn.machine.reboot import reboot
from sandbox.nspawn.site import Machine, operator_address, plan
from tests.roles.ansible_run import Played, connection, play
from tests.roles.storage.dataset_cache_cloud import CLASSES, credentials, stage
from tests.unit.core.samples import environment
from tests.unit.plan.site.test_dataset_cache import in_aws

pytestmark = [pytest.mark.lab, pytest.mark.long]

NODE, ADDRESS = "p5-1", "10.36.1.11"
ONPREM, CLOUD = IPv4Network("10.36.0.0/16"), IPv4Network("10.92.0.0/16")
SITE = plan(ONPREM, CLOUD, None, (Machine(NODE, ADDRESS),))
ENDPOINT = f"{operator_address(ONPREM)}:4593"
UNIT, SCRATCH = "landbridge-dataset-cache", "/local"
#: Control groups of version 2, also on a host of the lab with those of version 1.
CGROUPS = "/run/control-groups"
_GROUP = f"{CGROUPS}/system.slice/slurmstepd.scope"
SIZES = [6_000_000, 100, 0, 300_000]
#: As in playbooks/node_image.yml.
PLAYS: list[dict[str, Any]] = [
    {
        "hosts": NODE,
        "gather_facts": False,
        "vars": {
            "dataset_cache_config": "{{ landbridge_dataset_cache }}",
            "dataset_cache_after": ["landbridge-storage.service"],
            "dataset_cache_started": False,
        },
        "roles": ["dataset_cache"],
    }
]
#: Stand-in of the unit of role cloud_storage, which mounts a block device: it mounts the disk that the pool's file names. It also leaves the
#: slurm.conf that slurmd fetches.
STORAGE = f"""[Unit]
Before=multi-user.target
[Service]
Type=oneshot
RemainAfterExit=yes
ExecStart=sh -c 'if grep -q scratch {POOL_FILE}; then mkdir -p {SCRATCH}; mount -t tmpfs -o size=100m,mode=755 scratch {SCRATCH}; fi; mkdir -p {CGROUPS}; mount -t cgroup2 cgroup2 {CGROUPS}; install -D /srv/slurm.conf {SLURM_CONF}'
[Install]
WantedBy=multi-user.target
"""
#: Stand-in of the endpoint of role job_credentials: one file of credentials for each job.
ENDPOINT_OF_JOBS = """[Service]
ExecStart=python3 -m http.server --bind 127.0.0.1 --directory /srv/endpoint 8000
Restart=on-failure
[Install]
WantedBy=multi-user.target
"""


@dataclass(frozen=True)
class Image:
    """Machine with the roles of an image, and the emulated AWS."""

    lab: Layout
    folder: Path
    cloud: EmulatorProcess

    def run(self, script: str) -> str:
        return LabCluster(self.lab).run(NODE, "sh", "-c", script).strip()

    def bake(self) -> Played:
        endpoint = {("aws", "endpoints"): {"cloud": f"http://{ENDPOINT}"}}
        planned = cloud_dataset_cache_variables(environment({**in_aws(), **endpoint}))["landbridge_dataset_cache"]
        # The sample's classes differ from those of the emulated buckets.
        planned |= {"classes": {name: {"group": "", "keep": True} for name in CLASSES}, "cgroups": CGROUPS}
        hosts = {
            "all": {
                "vars": {**connection(self.lab), "landbridge_dataset_cache": planned},
                "hosts": {NODE: {"ansible_host": ADDRESS}},
            }
        }
        return play(self.lab, self.folder, PLAYS, hosts)

    def boot(self, pool: dict[str, Any]) -> None:
        """Boot the machine as a node of a pool: its start has written the pool's file."""
        self.run(f"mkdir -p $(dirname {POOL_FILE}) && printf %s {quote(json.dumps(pool))} > {POOL_FILE}")
        reboot(self.lab, NODE)
        self.run("systemctl is-system-running --wait || true")

    def job(self, number: int, data_class: str, script: str, role: str = "") -> str:
        """Return the output of a step of alice's job of a class; `role`: the class of its credentials, if another."""
        keys = dict(
            zip(("AccessKeyId", "SecretAccessKey", "Token"), credentials(self.cloud, role or data_class), strict=True)
        )
        self.run(
            f"printf %s {quote(json.dumps(keys))} > /srv/endpoint/job-{number};"
            " until python3 -c 'import socket; socket.create_connection((\"127.0.0.1\", 8000))' 2>/dev/null; do sleep 0.1; done"
        )
        group = f"{_GROUP}/job_{number}/step_batch"
        variables = (
            f"LANDBRIDGE_DATA_CLASS={data_class} AWS_CONTAINER_AUTHORIZATION_TOKEN=token-of-the-job"
            f" AWS_CONTAINER_CREDENTIALS_FULL_URI=http://127.0.0.1:8000/job-{number}"
        )
        user = f"setpriv --reuid=alice --regid=alice --init-groups env {variables}"
        step = f"echo $$ > {group}/cgroup.procs; exec {user} sh -c {quote(script)}"
        return self.run(f"mkdir -p {group}; sh -c {quote(step)} 2>&1; true")


@pytest.fixture(scope="module")
def image(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Image]:
    lab, folder = layout("landbridge-test-cache-image"), tmp_path_factory.mktemp("cache-image")
    cleanup.down(lab)
    try:
        whole.up(lab, SITE)
        options = ["--with-parent", "--require-credentials", "--netns", lab.netns, "--listen-netns", ENDPOINT]
        with running(folder / "cloud", *options) as cloud:
            stage(cloud, folder / "source", SIZES)
            baked = Image(lab, folder, cloud)
            lines = "".join(f"# landbridge-checkpoints {name} s3://{name}-bucket/checkpoints/\n" for name in CLASSES)
            baked.run(
                f"useradd --uid 20001 alice; printf %s {quote(lines)} > /srv/slurm.conf;"
                f" printf %s {quote(STORAGE)} > /etc/systemd/system/landbridge-storage.service;"
                f" printf %s {quote(ENDPOINT_OF_JOBS)} > /etc/systemd/system/endpoint.service;"
                " install -d /srv/endpoint; systemctl enable landbridge-storage endpoint"
            )
            baked.bake().good()
            yield baked
    finally:
        cleanup.down(lab)


def test_an_image_has_an_enabled_service_that_does_not_run(image: Image) -> None:
    assert image.bake().good().changed == {NODE: 0}
    assert image.run(f"systemctl is-enabled {UNIT}; systemctl is-active {UNIT} || true") == "enabled\ninactive"


def test_a_node_without_a_disk_caches_nothing_and_has_no_failed_unit(image: Image) -> None:
    image.boot({})
    show = f"systemctl show {UNIT} --value -p ActiveState -p Result -p NRestarts -p ExecMainStatus"
    # The service ends by itself.
    wait_for(
        "the end of the service",
        lambda: image.run(show).split(),
        lambda seen: seen == ["success", "0", "0", "inactive"],
    )
    assert "no disk of its own" in image.job(1, "internal", "landbridge-data path corpus:v1")


def test_a_node_with_a_disk_copies_with_the_credentials_of_the_job(image: Image) -> None:
    image.boot({"scratch": SCRATCH})
    assert image.run(f"systemctl is-active {UNIT}") == "active"
    path = image.job(1, "internal", "landbridge-data path corpus:v1")
    assert path.startswith(f"{SCRATCH}/datasets/"), path + image.run(f"journalctl -u {UNIT} -n 30 --no-pager")
    sums = image.job(1, "internal", f"cd {path} && find . -name 'file*' -type f -exec sha256sum {{}} +")
    read = {" ".join(line.split()[1:]): line.split()[0] for line in sums.splitlines()}
    source = image.folder / "source"
    assert read == {
        f"./{file.relative_to(source)}": hashlib.sha256(file.read_bytes()).hexdigest() for file in source.rglob("file*")
    }
    # The folder is the user's, and another class needs its own role.
    assert image.run(f"stat -c %U {path}/..") == "alice"
    assert "403 AccessDenied" in image.job(2, "partner", "landbridge-data path corpus:v1", role="internal")
    assert "internal corpus:v1 6,300,100 bytes" in image.run("landbridge-data list")


def test_after_a_reboot_the_empty_disk_is_used_again(image: Image) -> None:
    image.boot({"scratch": SCRATCH})
    # Also before the service has created its folders.
    assert image.run("landbridge-data list") == ""
    assert image.job(3, "internal", "landbridge-data path corpus:v1").startswith(f"{SCRATCH}/datasets/")
