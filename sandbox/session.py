"""Emulated AWS of the lab as a background process: started once, reused by later commands, terminated by `down`.

It listens at the addresses in `aws.endpoints` of the environment file: on this machine's loopback for the operator, and
inside the lab's network namespace for both sites. There it also has the address of the instance metadata service.
"""

import json
import os
import shutil
from pathlib import Path
from urllib.parse import urlsplit

from landbridge.environment import Environment
from landbridge.paths import secrets_dir, state_dir
from sandbox.aws_emulator.process import EmulatorProcess, start, wait_ready
from sandbox.nspawn.errors import LabError
from sandbox.nspawn.host import processes
from sandbox.nspawn.layout import Layout
from sandbox.nspawn.site import METADATA

_PID_FILE = "cloud.pid"
#: Delay before an instance boots. Slurm counts whole seconds and ignores a node whose boot seems to precede its resume.
BOOT_SECONDS = 2.0


def cloud_state(lab: Layout) -> Path:
    """Return the folder with credentials, logs and the ready file of the lab's emulated AWS."""
    return lab.state / "cloud"


def running_cloud(lab: Layout) -> EmulatorProcess | None:
    """Return the process of the lab's emulated AWS; None if it does not run."""
    process = processes.read_pid_file(lab.state / _PID_FILE)
    ready = cloud_state(lab) / "ready.json"
    if process is None or not ready.exists():
        return None
    content = json.loads(ready.read_text())
    return EmulatorProcess(content["endpoints"][0], content["imds"], cloud_state(lab), process.pid)


def ensure_cloud(lab: Layout, environment: Environment, boot_delay: float = BOOT_SECONDS) -> EmulatorProcess:
    """Return the process of the lab's emulated AWS; start it if it does not run. The lab's network must be up.

    A new one is empty: the state of a stack in an earlier emulated AWS, perhaps at another address, is removed.
    """
    current = running_cloud(lab)
    if current is not None:
        give_credentials(current, environment)
        return current
    endpoints = environment.aws.endpoints
    options = ["--launcher", "lab", "--require-credentials", "--netns", lab.netns, "--boot-delay", str(boot_delay)]
    options += ["--imds", f"{METADATA}:80", "--reserve", str(environment.aws.cidr.network_address + 1)]
    for flag, endpoint in (
        ("--listen", endpoints.operator),
        ("--listen-netns", endpoints.onprem),
        ("--listen-netns", endpoints.cloud),
    ):
        if endpoint is None:
            raise LabError("the environment's AWS is the real one", "the sandbox needs all three `aws.endpoints`")
        options += [flag, urlsplit(str(endpoint)).netloc]
    process = start(cloud_state(lab), options)
    try:
        cloud = wait_ready(process, cloud_state(lab))
    except RuntimeError as error:
        raise LabError(
            str(error), "end the process that listens there, or set other ports in `aws.endpoints`"
        ) from None
    processes.write_pid_file(lab.state / _PID_FILE, cloud.pid)
    forget_emulated_stacks(environment.name)
    give_credentials(cloud, environment)
    return cloud


def forget_emulated_stacks(environment: str) -> None:
    """Remove the local state of an environment's stacks if all of their AWS providers ask a loopback address.

    The state of a stack in AWS stays: without it, the next update would create every resource a second time.
    """
    folder = state_dir(environment) / "pulumi"
    providers = []
    for path in (folder / ".pulumi" / "stacks").rglob("*.json"):
        try:
            latest = json.loads(path.read_text())["checkpoint"].get("latest") or {}
        except (OSError, ValueError, KeyError):
            return
        resources = latest.get("resources") or ()
        providers += [each.get("inputs") or {} for each in resources if each["type"] == "pulumi:providers:aws"]
    if providers and all("http://127." in str(inputs.get("endpoints")) for inputs in providers):
        shutil.rmtree(folder, ignore_errors=True)


def give_credentials(cloud: EmulatorProcess, environment: Environment) -> None:
    """Write the AWS credentials of on-prem services into the folder of Ansible's secrets, as an operator does.

    Only for an environment whose credentials are files: others have IAM Roles Anywhere.
    """
    if environment.onprem is None or environment.onprem.aws_credentials != "files":
        return
    for service in ("burst", "mlflow"):
        target = secrets_dir(environment.name) / f"aws-credentials-{service}"
        content = cloud.launch_credentials.read_text()
        if not target.exists() or target.read_text() != content:
            with os.fdopen(os.open(target, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
                file.write(content)


def end_cloud(lab: Layout, grace: float = 30) -> None:
    """Stop the emulated AWS; it first terminates the instances that it launched."""
    processes.end(processes.read_pid_file(lab.state / _PID_FILE), grace)
    (lab.state / _PID_FILE).unlink(missing_ok=True)


def command_variables(cloud: EmulatorProcess, environment: str) -> dict[str, str]:
    """Return variables for the operator's commands: Pulumi's engine with stand-ins, Mitogen, AWS credentials.

    Credentials are passed as the path of a file, never by value.
    """
    from sandbox.fast_ansible import fast_ansible_variables
    from sandbox.pulumi_provider.engine.environment import sandbox_variables
    from sandbox.pulumi_provider.engine.find import Engine, find_engine

    engine = find_engine()
    return {
        **os.environ,
        "AWS_SHARED_CREDENTIALS_FILE": str(cloud.operator_credentials),
        "AWS_EC2_METADATA_DISABLED": "true",
        **fast_ansible_variables(),
        **sandbox_variables(environment, engine if isinstance(engine, Engine) else None),
    }
