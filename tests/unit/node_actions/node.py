"""Node of a pool with scripts: the files of its boot in a folder, credentials of its instance, and Slurm's and systemd's commands."""

import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from landbridge.environment import Environment
from landbridge.plan.aws.access.iam_policies import ArnContext
from landbridge.plan.aws.access.identity import documents, identity_args
from landbridge.plan.aws.pool import pool_args
from landbridge.plan.policy_document import document
from landbridge.plan.roles.nodes.node_verify import node_verify_variables
from sandbox.aws_emulator.process import EmulatorProcess
from tests.unit.aws_emulator.conftest import build, client_of
from tests.unit.aws_emulator.instances.test_emulator_metadata import Machine
from tests.unit.core.samples import environment

ROLES = Path(__file__).parents[3] / "ansible/roles"
ACCOUNT, BUCKET = "123456789012", "acme-scripts"
HUB = f"test-internal-{ACCOUNT}"
PLACE = ArnContext("test", "aws", "us-east-1", ACCOUNT)
SECRET = f"arn:aws:secretsmanager:us-east-1:{ACCOUNT}:secret:test/slurm-key-AbCdEf"
TRUST = document([{"Effect": "Allow", "Principal": {"Service": "ec2.amazonaws.com"}, "Action": "sts:AssumeRole"}])
#: Stand-in of a command: it writes its words, and the file that SLURM_CONF names, into a file.
COMMAND = """#!/bin/sh
echo "$(basename "$0") $*" >> {calls}
test -z "$SLURM_CONF" || cat "$SLURM_CONF" >> {calls}
"""


def script(text: str, key: str, bucket: str = BUCKET, **settings: Any) -> tuple[str, dict[str, Any]]:
    """Return a script's text and its entry in the environment file."""
    checksum = hashlib.sha256(text.encode()).hexdigest()
    return text, {"script": f"s3://{bucket}/{key}", "sha256": checksum, **settings}


@dataclass(frozen=True)
class Node:
    """Running instance of a pool. Its role has the policy of the plan."""

    cloud: EmulatorProcess
    root: Path
    keys: Mapping[str, str]

    def run(self, event: str) -> "subprocess.CompletedProcess[str]":
        """Run the program of an event as its unit does."""
        variables = {
            "PATH": f"{self.root}/bin:/usr/bin:/bin",
            "PYTHONPATH": ":".join(str(ROLES / role / "files") for role in ("node_actions", "node_verify")),
            "AWS_ACCESS_KEY_ID": self.keys["AccessKeyId"],
            "AWS_SECRET_ACCESS_KEY": self.keys["SecretAccessKey"],
            "AWS_SESSION_TOKEN": self.keys["Token"],
        }
        words = [sys.executable, "-sB", "-m", "node_actions", event, "--root", str(self.root)]
        return subprocess.run(words, env=variables, capture_output=True, text=True, check=False)

    @property
    def calls(self) -> list[str]:
        """Return the commands of Slurm and systemd that the program ran, and Slurm's settings for them."""
        path = self.root / "calls"
        return path.read_text().splitlines() if path.exists() else []

    @property
    def reason(self) -> str:
        """Return the reason that Slurm got."""
        (update,) = [call for call in self.calls if call.startswith("scontrol update")]
        return update.partition(" reason=")[2]

    @property
    def console(self) -> str:
        return (self.root / "dev/console").read_text()


def planned(cloud: EmulatorProcess, actions: Mapping[str, Any]) -> Environment:
    """Return an environment whose first pool has these scripts."""
    return environment({("aws", "pools", 0, "actions"): actions, ("aws", "endpoints"): {"cloud": cloud.endpoint}})


def boot(cloud: EmulatorProcess, root: Path, site: Environment, *, skipped: str = "") -> Node:
    """Launch an instance with the role of the plan, and write the files that the identity service and the image have.

    `skipped` is the beginning of the Sid of statements that its role lacks.
    """
    iam, ec2, s3, kms = (client_of(cloud, service) for service in ("iam", "ec2", "s3", "kms"))
    key = kms.create_key()["KeyMetadata"]["Arn"]
    for bucket in (BUCKET, HUB):
        s3.create_bucket(Bucket=bucket)
    default = {"SSEAlgorithm": "aws:kms", "KMSMasterKeyID": key}
    rules = {"Rules": [{"ApplyServerSideEncryptionByDefault": default}]}
    s3.put_bucket_encryption(Bucket=HUB, ServerSideEncryptionConfiguration=rules)
    role = iam.create_role(RoleName="test-node", AssumeRolePolicyDocument=TRUST)["Role"]["Arn"]
    arns = {"internal": f"arn:aws:s3:::{HUB}"}
    policies = documents(identity_args(site), PLACE, arns, {"internal": key}, role, {"internal": role}, SECRET)
    policy = json.loads(policies.node)
    if skipped:
        policy["Statement"] = [row for row in policy["Statement"] if not row["Sid"].startswith(skipped)]
    iam.put_role_policy(RoleName="test-node", PolicyName="landbridge", PolicyDocument=json.dumps(policy))
    profile = iam.create_instance_profile(InstanceProfileName="test-node")["InstanceProfile"]["Arn"]
    iam.add_role_to_instance_profile(InstanceProfileName="test-node", RoleName="test-node")
    stack = build(ec2, profile=profile)
    nic = [{"DeviceIndex": 0, "SubnetId": stack.subnets[0]}]
    template = {"LaunchTemplateId": stack.template}
    ec2.run_instances(LaunchTemplate=template, MinCount=1, MaxCount=1, NetworkInterfaces=nic)
    machine = Machine(cloud, cloud.control()["instances"][0]["address"])
    keys = json.loads(machine.get("meta-data/iam/security-credentials/test-node")[1])
    write_files(root, site)
    return Node(cloud, root, keys)


def write_files(root: Path, site: Environment) -> None:
    """Write the pool's file from its user data, the settings of the check, and the stand-ins of commands."""
    user_data = pool_args(site, site.aws.pools[0]).user_data()
    (file,) = json.loads(user_data.partition("\n")[2])["write_files"]
    variables = node_verify_variables(site)
    report = {"slurm_conf": variables["node_verify_slurm_conf"], "power_off": True}
    for name, text in {
        file["path"]: file["content"],
        "/etc/landbridge/node-verify.json": json.dumps({"image": {}, "report": report}),
        "/dev/console": "",
        "/bin/scontrol": COMMAND.format(calls=root / "calls"),
        "/bin/systemctl": COMMAND.format(calls=root / "calls"),
    }.items():
        path = root / name.lstrip("/")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        path.chmod(0o755)
    os.mkdir(root / "trace")


def put(cloud: EmulatorProcess, scripts: Mapping[str, str], bucket: str = BUCKET) -> None:
    """Put scripts into a bucket."""
    for key, text in scripts.items():
        client_of(cloud, "s3").put_object(Bucket=bucket, Key=key, Body=text.encode())
