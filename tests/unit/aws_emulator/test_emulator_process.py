"""The emulated AWS as a program: access control, start errors, clean-up."""

import stat
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import boto3
import pytest
from botocore.exceptions import ClientError

from sandbox.aws_emulator.process import EmulatorProcess, running

from .conftest import ONCE, build, client_of


def test_a_port_in_use_is_a_clear_error(cloud: EmulatorProcess, tmp_path: Path) -> None:
    address = cloud.endpoint.removeprefix("http://")
    command = [sys.executable, "-m", "sandbox.aws_emulator", "--listen", address, "--state", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert address in done.stderr
    assert "another program listens there" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_missing_network_namespace_is_a_clear_error(tmp_path: Path) -> None:
    options = ["--listen", "127.0.0.1:0", "--netns", "nobody-made-it", "--listen-netns", "10.60.0.254:4580"]
    command = [sys.executable, "-m", "sandbox.aws_emulator", *options, "--state", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, "nobody-made-it" in done.stderr) == (2, True)


@pytest.mark.parametrize(("service", "call", "code"), [
    ("ec2", "describe_vpcs", "AuthFailure"),
    ("sts", "get_caller_identity", "InvalidClientTokenId"),
    ("secretsmanager", "list_secrets", "InvalidClientTokenId"),
    ("s3", "list_buckets", "InvalidAccessKeyId"),
])  # fmt: skip
def test_an_unknown_access_key_is_refused(cloud: EmulatorProcess, service: str, call: str, code: str) -> None:
    session = boto3.session.Session("AKIAUNKNOWNUNKNOWNXX", "secret", region_name="us-east-1")
    with pytest.raises(ClientError) as caught:
        getattr(session.client(service, endpoint_url=cloud.endpoint, config=ONCE), call)()
    assert caught.value.response["Error"]["Code"] == code


def test_both_created_access_keys_are_valid_and_private(cloud: EmulatorProcess) -> None:
    for path in (cloud.operator_credentials, cloud.launch_credentials):
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        assert "Vpcs" in client_of(cloud, "ec2", path).describe_vpcs()


def test_an_unknown_control_key_is_refused(cloud: EmulatorProcess) -> None:
    with pytest.raises(OSError, match="400"):
        cloud.control(capacity={"p5.48xlarge/*": 1})


def test_the_emulator_ends_with_its_killed_parent(tmp_path: Path) -> None:
    text = (
        "import sys, time\nfrom pathlib import Path\nfrom sandbox.aws_emulator.process import running\n"
        "with running(Path(sys.argv[1]), '--with-parent') as cloud:\n    print(cloud.pid, flush=True)\n    time.sleep(60)\n"
    )
    with subprocess.Popen([sys.executable, "-c", text, tmp_path], stdout=subprocess.PIPE, text=True) as owner:
        assert owner.stdout is not None
        cloud = Path(f"/proc/{int(owner.stdout.readline())}")
        assert cloud.exists()
        owner.kill()
    end = time.monotonic() + 300
    while cloud.exists() and time.monotonic() < end:
        time.sleep(0.1)
    assert not cloud.exists() and not (tmp_path / "ready.json").exists()


def test_the_end_of_the_emulator_ends_its_instances(tmp_path: Path) -> None:
    options = ["--boot-delay", "0", "--launcher", "process", "--process-command", "sleep 600"]
    with running(tmp_path, *options) as cloud:
        ec2 = client_of(cloud, "ec2")
        stack = build(ec2)
        nic = [{"DeviceIndex": 0, "SubnetId": stack.subnets[0]}]
        started: Any = ec2.run_instances(
            LaunchTemplate={"LaunchTemplateId": stack.template}, MinCount=2, MaxCount=2, NetworkInterfaces=nic
        )
        ids = [instance["InstanceId"] for instance in started["Instances"]]
        assert _wait_for(lambda: len(_children(cloud.pid)) == 2)
        ec2.terminate_instances(InstanceIds=ids[:1])
        assert _wait_for(lambda: len(_children(cloud.pid)) == 1)
        remaining = _children(cloud.pid)
    assert not any(Path(f"/proc/{pid}").exists() for pid in remaining)
    assert not (tmp_path / "ready.json").exists()


def test_an_instance_that_shuts_itself_down_is_terminated_and_returns_its_capacity(tmp_path: Path) -> None:
    program = "sh -c 'echo the console; sleep 1'"
    options = ["--boot-delay", "0", "--launcher", "process", "--process-command", program]
    with running(tmp_path, *options) as cloud:
        cloud.control(pool={"p5.48xlarge/*": 1})
        ec2 = client_of(cloud, "ec2")
        stack = build(ec2)
        nic = [{"DeviceIndex": 0, "SubnetId": stack.subnets[0]}]
        template = {"LaunchTemplateId": stack.template}
        ec2.run_instances(LaunchTemplate=template, MinCount=1, MaxCount=1, NetworkInterfaces=nic)
        assert _wait_for(lambda: bool(cloud.control()["instances"][0]["state"] == "terminated"))
        assert cloud.control()["instances"][0]["reason"].startswith("Client.InstanceInitiatedShutdown")
        assert cloud.control()["pool"] == {"p5.48xlarge/*": 1}
        console = ec2.get_console_output(InstanceId=cloud.control()["instances"][0]["id"])
        assert console["Output"] == "the console\n", "EC2 keeps the console of an instance that has ended"


def _children(pid: int) -> list[int]:
    text = subprocess.run(["ps", "-o", "pid=", "--ppid", str(pid)], capture_output=True, text=True, check=False).stdout
    return [int(word) for word in text.split()]


def _wait_for(condition: Any, seconds: float = 300) -> bool:
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.05)
    return True
