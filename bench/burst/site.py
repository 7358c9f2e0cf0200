"""Site of the burst benchmark: an emulated AWS for both controllers, and a Slurm that has just allocated nodes.

Slurm's commands are scripts that print output recorded in the lab, extended to the number of nodes; updates are logged.
"""

import functools
import json
import os
import socket
import time
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import boto3

from landbridge.burst.slurm.slurm_text import JOB_FIELDS
from landbridge.hostlist import compress
from sandbox.aws_emulator.process import EmulatorProcess

ROOT = Path(__file__).resolve().parents[2]
RECORDED = ROOT / "tests/unit/burst/data/26.05"
REGION, TYPE, IMAGE = "us-east-1", "p5.48xlarge", "ami-0a11ce5a9db0c5000"
CLUSTER, POOL, MAX_NODES = "bench", "p5", 1000
#: ParallelCluster's name for node `number` of one compute resource of one queue.
PEER_NODE = "q1-dy-p5-"
#: Script in place of scontrol. {folder} is the folder of the Slurm.
SCONTROL = """#!/bin/sh
case "$1 $2" in
  "ping --json") cat {folder}/ping.json;;
  "show nodes") cat {folder}/now/nodes.txt;;
  "show hostnames") cat {folder}/now/hostnames.txt;;
  *) echo "$*" >> {folder}/scontrol.log;;
esac
"""
#: Script in place of squeue: it prints the requested separator, which is the text behind the first field.
SQUEUE = r"""#!/bin/sh
for word; do case $word in --Format=*) form=$word;; esac; done
form=${{form#*:0}}
exec sed "s/\t/${{form%%,*}}/g" {folder}/now/squeue.txt
"""


@dataclass(frozen=True)
class AwsResources:
    """Ids of the resources that Pulumi creates in a real environment."""

    subnet: str
    group: str
    template: str
    zone_id: str


def build(cloud: EmulatorProcess) -> AwsResources:
    """Create a network, launch templates, and ParallelCluster's table and zone in an empty account."""
    cloud.control(wipe=True, boot=0)
    ec2, dynamodb, route53 = (client(cloud, name) for name in ("ec2", "dynamodb", "route53"))
    vpc = ec2.create_vpc(CidrBlock="10.60.0.0/16")["Vpc"]["VpcId"]
    subnet = ec2.create_subnet(VpcId=vpc, CidrBlock="10.60.0.0/18", AvailabilityZone=f"{REGION}a")["Subnet"]["SubnetId"]
    group = ec2.create_security_group(GroupName="p5", Description="p5", VpcId=vpc)["GroupId"]
    interface = {"DeviceIndex": 0, "NetworkCardIndex": 0, "Groups": [group]}
    data = {"ImageId": IMAGE, "InstanceType": TYPE}
    parallelcluster = {**data, "NetworkInterfaces": [{**interface, "SubnetId": subnet}]}
    ec2.create_launch_template(LaunchTemplateName="bench-q1-p5", LaunchTemplateData=parallelcluster)
    response = ec2.create_launch_template(LaunchTemplateName="bench-p5", LaunchTemplateData=data)
    key = [{"AttributeName": "Id", "AttributeType": "S"}]
    dynamodb.create_table(
        TableName="parallelcluster-slurm-bench",
        AttributeDefinitions=key,
        KeySchema=[{"AttributeName": "Id", "KeyType": "HASH"}],
        BillingMode="PAY_PER_REQUEST",
    )
    zone = route53.create_hosted_zone(
        Name="bench.pcluster.",
        CallerReference="bench",
        HostedZoneConfig={"PrivateZone": True},
        VPC={"VPCRegion": REGION, "VPCId": vpc},
    )
    return AwsResources(
        subnet, group, response["LaunchTemplate"]["LaunchTemplateId"], zone["HostedZone"]["Id"].rpartition("/")[2]
    )


def client(cloud: EmulatorProcess, service: str) -> Any:
    """Return a client with the operator's access keys."""
    keys = cloud.operator_credentials.read_text().splitlines()
    values: dict[str, Any] = dict(line.split(" = ") for line in keys if " = " in line)
    session: Any = boto3.session.Session(region_name=REGION, **values)
    return session.client(service, endpoint_url=cloud.endpoint)


class Slurm:
    """Folder of a Slurm with `MAX_NODES` cloud nodes, under our node names and ParallelCluster's."""

    def __init__(self, folder: Path) -> None:
        self.folder = self.next = folder

    @property
    def environ(self) -> dict[str, str]:
        """Return the environment variables of the measured programs: scripts first on PATH, and our settings file."""
        return {
            "PATH": f"{self.folder}/bin:{os.environ['PATH']}",
            "LANDBRIDGE_BURST_CONFIG": str(self.folder / "burst.json"),
            "PYTHONPATH": str(ROOT),
        }

    def write(self, cloud: EmulatorProcess, resources: AwsResources) -> None:
        """Write the scripts and our settings, with all nodes powered down."""
        (self.folder / "bin").mkdir(parents=True, exist_ok=True)
        scripts = {"scontrol": SCONTROL.format(folder=self.folder), "sudo": '#!/bin/sh\nexec "$@"\n'}
        write_scripts(self.folder)
        for name, text in scripts.items():
            (self.folder / "bin" / name).write_text(text)
            (self.folder / "bin" / name).chmod(0o755)
        write_ping(self.folder)
        (self.folder / "burst.json").write_text(json.dumps(settings(cloud, resources, self.folder)))
        self.prepare(0, 1)
        self.activate()

    def prepare(self, nodes: int, jobs: int) -> None:
        """Write the answers of a Slurm that has just allocated `nodes` powered-down nodes to `jobs` jobs."""
        self.next = self.folder / f"prepared-{time.time_ns()}"
        share = nodes // jobs if nodes >= jobs else 1
        parts = [range(1 + at * share, 1 + (at + 1) * share) for at in range(min(jobs, nodes))]
        if parts:
            parts[-1] = range(parts[-1].start, nodes + 1)
        self._put("squeue.txt", _queue(parts))
        self._put("sinfo.txt", _nodes(nodes))
        self._put("resume.json", json.dumps(_resume(parts, f"{POOL}-")))
        self._put("peer.json", json.dumps(_resume(parts, PEER_NODE)))
        self._put("nodes.txt", "".join(_peer_node(number) for number in range(1, nodes + 1)))
        self._put("hostnames.txt", "".join(f"aws-p5-{number}\n" for number in range(nodes)))
        (self.folder / "scontrol.log").write_text("")
        (self.folder / "heartbeat").write_text(datetime.now(UTC).strftime("%Y-%m-%d %H:%M:%S.%f%z"))

    def activate(self) -> None:
        """Make the scripts print the prepared answers from now on."""
        link = self.folder / "link"
        link.symlink_to(self.next.name)
        link.replace(self.folder / "now")

    def _put(self, name: str, text: str) -> None:
        self.next.mkdir(exist_ok=True)
        (self.next / name).write_text(text)

    @property
    def updates(self) -> list[str]:
        """Return the arguments of the recorded scontrol calls."""
        return (self.folder / "scontrol.log").read_text().splitlines()


def settings(cloud: EmulatorProcess, resources: AwsResources, folder: Path) -> dict[str, Any]:
    """Return our burst.json with one pool of one offering."""
    offering = {
        "key": f"{TYPE}/use1-az4/on-demand",
        "kind": "on_demand",
        "instance_type": TYPE,
        "subnet": resources.subnet,
        "zone": "use1-az4",
        "market": "on-demand",
        "launch_template_id": resources.template,
        "launch_template_version": "1",
        "usd_hour": 55.04,
        "interfaces": [{"card": 0, "device": 0, "kind": "interface"}],
        "security_groups": [resources.group],
    }
    return {
        "cluster": CLUSTER,
        "region": REGION,
        "endpoint": cloud.endpoint,
        "credentials_file": str(cloud.operator_credentials),
        "slurm_key_secret": "bench/slurm-key",
        "state_dir": str(folder),
        "socket": str(folder / "burst.sock"),
        "metrics": None,
        "accounts": {"vision": {"data_class": "internal", "aws": True}},
        "pools": {POOL: {"node_prefix": f"{POOL}-", "max_nodes": MAX_NODES, "offerings": [offering]}},
    }


def write_scripts(folder: Path) -> None:
    """Write scripts in place of sinfo and squeue into `folder`/bin; they print the answers in `folder`/now."""
    (folder / "bin").mkdir(parents=True, exist_ok=True)
    for name, text in {"sinfo": "#!/bin/sh\ncat {folder}/now/sinfo.txt\n", "squeue": SQUEUE}.items():
        (folder / "bin" / name).write_text(text.format(folder=folder))
        (folder / "bin" / name).chmod(0o755)


def write_ping(folder: Path) -> None:
    """Write the answer of `scontrol ping` with this host as the active controller into `folder`."""
    ping = json.loads((RECORDED / "scontrol-ping.json").read_text())
    ping["pings"][0]["hostname"] = socket.gethostname().partition(".")[0]
    (folder / "ping.json").write_text(json.dumps(ping))


def recorded_job(changed: Mapping[str, object]) -> str:
    """Return squeue's line of the recorded job whose node starts, with changed fields and tabs as separators."""
    return "".join(f"{value}\t" for value in {**_recorded_fields(), "Account": "vision", **changed}.values()) + "\n"


@functools.cache
def _recorded_fields() -> Mapping[str, object]:
    lines = (RECORDED / "power.squeue.txt").read_text().splitlines()
    columns = next(line for line in lines if "CONFIGURING" in line).split("|00c0ffee|")
    return dict(zip(JOB_FIELDS, columns, strict=False))


def _queue(parts: list[range]) -> str:
    """Return squeue's output: a job for each part, whose nodes start."""
    return "".join(
        recorded_job(
            {
                "JobID": number,
                "NodeList": compress(f"{POOL}-{node}" for node in part),
                "NumNodes": len(part),
                "StartTime": int(time.time()),
            }
        )
        for number, part in enumerate(parts, 1)
    )


def _nodes(starting: int) -> str:
    """Return sinfo's output: the starting and the powered-down nodes."""
    groups = (
        (range(1, starting + 1), "allocated+cloud+not_responding+powering_up"),
        (range(starting + 1, MAX_NODES + 1), "idle+cloud+powered_down"),
    )
    return "".join(f"{compress(f'{POOL}-{node}' for node in part)} {state}\n" for part, state in groups if part)


def _resume(parts: list[range], prefix: str) -> dict[str, Any]:
    """Return the content of SLURM_RESUME_FILE: the recorded job with these nodes."""
    resume: dict[str, Any] = json.loads((RECORDED / "resume-gang.json").read_text())
    recorded, resume["jobs"] = resume["jobs"][0], []
    if prefix == PEER_NODE:
        # aws-parallelcluster-node cannot read these keys of Slurm 26.05.
        recorded = {key: value for key, value in recorded.items() if key not in ("exclusive", "priority")}
    for number, part in enumerate(parts, 1):
        nodes = _host_list(part, prefix)
        resume["jobs"].append({**recorded, "job_id": number, "nodes_alloc": nodes, "nodes_resume": nodes})
    resume["all_nodes_resume"] = _host_list(range(1, parts[-1].stop), prefix) if parts else ""
    return resume


def _host_list(part: range, prefix: str) -> str:
    return f"{prefix}[{part.start}-{part.stop - 1}]" if len(part) > 1 else f"{prefix}{part.start}"


def _peer_node(number: int) -> str:
    name = f"{PEER_NODE}{number}"
    return (
        f"NodeName={name} CoresPerSocket=1\n   NodeAddr={name} NodeHostName={name} Version=26.05\n"
        "   State=IDLE+CLOUD+POWERING_UP\n   Partitions=q1\n   SlurmdStartTime=None LastBusyTime=Unknown\n\n"
    )


def peer_settings(slurm: Slurm, resources: AwsResources) -> Mapping[str, str]:
    """Write ParallelCluster's files for one compute resource; return the variables by which its programs find them."""
    fleet: dict[str, Any] = {"Api": "run-instances", "CapacityType": "on-demand", "AllocationStrategy": "lowest-price"}
    fleet |= {"Instances": [{"InstanceType": TYPE}], "Networking": {"SubnetIds": [resources.subnet]}}
    (slurm.folder / "fleet.json").write_text(json.dumps({"q1": {"p5": fleet}}))
    (slurm.folder / "none.json").write_text("{}")
    lines = {
        "cluster_name": CLUSTER,
        "region": REGION,
        "proxy": "NONE",
        "dynamodb_table": f"parallelcluster-slurm-{CLUSTER}",
        "hosted_zone": resources.zone_id,
        "dns_domain": "bench.pcluster",
        "head_node_private_ip": "10.60.0.5",
        "head_node_hostname": "ip-10-60-0-5",
        "clustermgtd_heartbeat_file_path": str(slurm.folder / "heartbeat"),
        "fleet_config_file": str(slurm.folder / "fleet.json"),
        "run_instances_overrides": str(slurm.folder / "none.json"),
        "create_fleet_overrides": str(slurm.folder / "none.json"),
        "scaling_strategy": "all-or-nothing",
    }
    text = "\n".join(["[slurm_resume]", *(f"{key}={value}" for key, value in lines.items())])
    (slurm.folder / "resume.conf").write_text(text + "\n")
    return {
        "SLURM_BINARIES_DIR": str(slurm.folder / "bin"),
        "SLURM_RESUME_FILE": str(slurm.folder / "now" / "peer.json"),
    }
