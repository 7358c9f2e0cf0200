"""Lab for containers in jobs: a controller, a GPU node, a real registry, and an image of the node's own files."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from ipaddress import IPv4Network
from pathlib import Path
from typing import Any

from landbridge.environment import Environment, load_environment
from landbridge.plan.ansible.inventory import inventory
from landbridge.plan.site.containers import PLUGIN
from sandbox.demo.cluster import LabCluster
from sandbox.hardware.packages.repository import Repository
from sandbox.nspawn.site import LabSite, Machine, plan
from tests.roles.ansible_run import Played, connection, play
from tests.roles.jobs.spank_plugin import plugin

ROOT = Path(__file__).parents[3]
ONPREM, CLOUD = IPv4Network("10.47.0.0/16"), IPv4Network("10.87.0.0/16")
OPERATOR = "10.47.0.254"
ADDRESSES = {"ctl01": "10.47.0.11", "dgx01": "10.47.1.11"}
#: The image's configured name, and its real location: a cache on the controller, over plain HTTP.
NAME, CACHE = "nvcr.io/test/tiny", "10.47.0.11:5000/nvcr"
ABSENT = ("AccountingStorageType", "AccountingStorageHost", "AccountingStorageTRES", "AccountingStorageEnforce")
#: As the NVIDIA container toolkit writes it, for the lab's device files: all GPUs; the job's cgroup limits access.
DEVICES = {
    "cdiVersion": "0.5.0",
    "kind": "nvidia.com/gpu",
    "devices": [
        {"name": "all", "containerEdits": {"deviceNodes": [{"path": f"/dev/nvidia{number}"} for number in range(8)]}}
    ],
    "containerEdits": {"env": ["NVIDIA_VISIBLE_DEVICES=void"]},
}
MAKE_IMAGE = r"""
set -eu
apt-get install -qq -y --no-install-recommends docker-registry skopeo >/dev/null
mkdir -p /var/lib/cache && chown docker-registry /var/lib/cache
echo '{version: 0.1, storage: {filesystem: {rootdirectory: /var/lib/cache}}, http: {addr: ":5000"}}' > /etc/docker/registry/config.yml
systemctl restart docker-registry
rm -rf /root/tiny && mkdir -p /root/tiny/bin /root/tiny/etc /root/tiny/tmp && cd /root/tiny
for program in sh cat head tail id sleep mkdir touch; do
  file=$(readlink -f "$(command -v $program)"); cp "$file" bin/$program
  ldd "$file" | grep -o '/[^ ]*' | while read -r library; do
    mkdir -p ".$(dirname "$library")"; cp -nL "$library" ".$library"; done
done
echo 'PRETTY_NAME="a tiny image"' > etc/os-release
mkdir -p /root/oci/blobs/sha256 && tar --sort=name --mtime=@0 --owner=0 --group=0 -cf /root/layer.tar .
"""
PACK_IMAGE = r"""
import hashlib, json, pathlib
blobs = pathlib.Path("/root/oci/blobs/sha256")
def blob(data, kind):
    digest = hashlib.sha256(data).hexdigest()
    (blobs / digest).write_bytes(data)
    return {"mediaType": f"application/vnd.oci.image.{kind}", "digest": f"sha256:{digest}", "size": len(data)}
layer = blob(pathlib.Path("/root/layer.tar").read_bytes(), "layer.v1.tar")
config = {"architecture": "amd64", "os": "linux", "config": {"Env": ["PATH=/bin"]}, "rootfs": {"type": "layers", "diff_ids": [layer["digest"]]}}
config = blob(json.dumps(config).encode(), "config.v1+json")
manifest = {"schemaVersion": 2, "mediaType": "application/vnd.oci.image.manifest.v1+json", "config": config, "layers": [layer]}
manifest = blob(json.dumps(manifest).encode(), "manifest.v1+json")
pathlib.Path("/root/oci/index.json").write_text(json.dumps({"schemaVersion": 2, "manifests": [manifest]}))
pathlib.Path("/root/oci/oci-layout").write_text('{"imageLayoutVersion": "1.0.0"}')
print(manifest["digest"])
"""


def site() -> LabSite:
    """Return the lab's site. The node has a disk, as on bare metal: images cannot be unpacked on the lab's own root."""
    node = Machine("dgx01", ADDRESSES["dgx01"], gpus=8, storage=True)
    return plan(ONPREM, CLOUD, None, (Machine("ctl01", ADDRESSES["ctl01"]), node))


def environment(folder: Path, release: str, digest: str, packages: Repository) -> Environment:
    """Return the site's environment with the image of this digest and the repository of container packages."""
    services = {"controller": ["ctl01"], "login": ["ctl01"]}
    services |= dict.fromkeys(("database", "storage", "gateway", "mlops"), "ctl01")
    written: dict[str, Any] = {
        "owner": "containers@example.org",
        "cost_center": "0000",
        "data_classes": {"internal": {"sites": ["onprem", "aws"]}},
        "users": [{"name": "alice", "uid": 20001}, {"name": "bob", "uid": 20002}],
        "onprem": {
            "cidr": str(ONPREM),
            "aws_credentials": "files",
            "nodes": [{"hosts": "dgx01", "platform": "dgx-h100", "address": ADDRESSES["dgx01"], "rack": "r1"}],
            "services": services,
            "addresses": {"ctl01": ADDRESSES["ctl01"]},
        },
        "aws": {"cidr": str(CLOUD)},
        "scheduler": {
            "slurm": {"version": release, "packages_mirror": None},
            "cgroup": "v1",
            "overrides": {"slurm_conf": {**dict.fromkeys(ABSENT), "SlurmdParameters": "config_overrides"}},
        },
        "containers": {
            "engines": ["podman", "apptainer", "enroot"],
            "packages": {"uris": packages.address(OPERATOR, "containers"), "key": packages.key},
            "folder": "/export/containers",
            "mirrors": {"nvcr.io": {"location": CACHE, "insecure": True}},
            "images": {"tiny": f"{NAME}@{digest}"},
        },
        "budget": {"monthly_usd": 1000},
    }
    path = folder / "Pulumi.containers.yaml"
    path.write_text(json.dumps({"config": {"aws:region": "us-east-1", "landbridge:environment": written}}))
    loaded = load_environment(path).environment
    assert loaded is not None
    return loaded


PLAYS: Sequence[tuple[str, list[str]]] = (
    ("all", ["base", "enroot_pyxis"]),
    ("ctl01", ["slurm_controller"]),
    ("dgx01", ["slurm_node", "slurm_job_environment", "podman", "apptainer", "gds"]),
)


@dataclass(frozen=True)
class Containers:
    """The running cluster, with the commands of a user who runs containers in jobs."""

    cluster: LabCluster
    folder: Path
    release: str
    digest: str
    packages: Repository

    def converge(self, *words: str, plays: Sequence[tuple[str, list[str]]] = PLAYS) -> Played:
        """Run the roles; the result contains failures."""
        planned = inventory(environment(self.folder, self.release, self.digest, self.packages))
        variables = {**planned["all"]["vars"], **planned["slurm_controller"]["vars"]}
        node_variables = planned["_meta"]["hostvars"]["dgx01"]
        variables |= {name: node_variables[name] for name in node_variables if name.startswith("slurm_job_environment")}
        variables |= {"base_create_homes": True, "slurm_common_key": "k" * 64, "slurm_controller_database_host": ""}
        variables |= connection(self.cluster.lab)
        hosts = {name: {"ansible_host": address} for name, address in ADDRESSES.items()}
        books = [{"hosts": pattern, "gather_facts": False, "roles": roles} for pattern, roles in plays]
        known = {"all": {"hosts": hosts, "vars": variables}}
        return play(self.cluster.lab, self.folder, books, known, *words)

    def srun(self, *command: str, options: tuple[str, ...] = (), user: str = "alice") -> str:
        """Return the output of a job of one core on the node. Raises ClusterError with its error."""
        words = (
            "timeout",
            "50",
            "srun",
            "--quiet",
            "--time=2",
            "--mem=200",
            "--ntasks=1",
            "--cpus-per-task=1",
            "--chdir=/tmp",
            *options,
        )
        return self.cluster.run("ctl01", *words, *command, user=user)


def give_plugin(cluster: LabCluster, node: str, release: str) -> None:
    """Install a stand-in of pyxis's plugin on a node: it does nothing, and is built for this release of Slurm."""
    cluster.put(node, PLUGIN, plugin("pyxis", release), "root")


def know_nvidia(cluster: LabCluster, packages: Repository) -> None:
    """Configure NVIDIA's repository on the GPU node, as the role nvidia_driver does."""
    source = f"Types: deb\nURIs: {packages.address(OPERATOR, 'debian13')}\nSuites: ./\nSigned-By: /etc/apt/keyrings/lab.asc\n"
    cluster.put("dgx01", "/etc/apt/keyrings/lab.asc", packages.key.encode(), "root")
    cluster.put("dgx01", "/etc/apt/sources.list.d/lab.sources", source.encode(), "root")
    only = "-oDir::Etc::SourceList=/dev/null -oDir::Etc::SourceParts=/run/lab-sources -oAPT::Get::List-Cleanup=0"
    script = (
        f"mkdir /run/lab-sources; cp /etc/apt/sources.list.d/lab.sources /run/lab-sources; apt-get -q {only} update"
    )
    cluster.run("dgx01", "sh", "-c", script)


def publish(cluster: LabCluster) -> str:
    """Create the image, push it to the registry on the controller and return its digest."""
    cluster.run("ctl01", "sh", "-c", MAKE_IMAGE, timeout=300)
    digest = cluster.run("ctl01", "python3", "-c", PACK_IMAGE).strip()
    target = f"docker://{CACHE}/test/tiny:latest"
    cluster.run(
        "ctl01", "skopeo", "copy", "--quiet", "--preserve-digests", "--dest-tls-verify=false", "oci:/root/oci", target
    )
    return digest
