"""GPU nodes in AWS in one chain: the recipe's image behind a launch template, its own check, a training, NCCL over EFA.

And lacks: each is named by the check and keeps the node out of Slurm.
"""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from landbridge import hostlist
from sandbox.demo.bring_up import ROOT, BringUp
from sandbox.demo.full import clients
from sandbox.demo.training import Researcher
from sandbox.demo.work import command, program
from sandbox.nspawn.machine import cloud_node
from sandbox.nspawn.machine import nodes as machines
from tests.e2e.support import gpu_image
from tests.e2e.support.bursting import NODES, POOL, SERVICE, Bursting, scaled

pytestmark = [pytest.mark.lab, pytest.mark.engine, pytest.mark.long, pytest.mark.timeout(3000)]
#: The first stays in the cache of images, for the next run; the second has a lack.
AMI, LACKING = "ami-06b0de5a9db0c5000", "ami-06b0de5a9db0c5001"
PAIR = NODES[:2]
VERIFY = "/opt/landbridge/bin/landbridge-node-verify"
AWAY = "/root/moved-away"


def without_file(path: str) -> tuple[str, str]:
    """Return the commands that move a file away and back. The checks look for patterns beside the file."""
    return f"mv {path} {AWAY}", f"mv {AWAY} {path}"


def disabled(unit: str) -> tuple[str, str]:
    return f"systemctl disable --quiet {unit}", f"systemctl enable --quiet {unit}"


LIMITS = "/run/systemd/system/slurmd.service.d"
FAULTS = "/var/lib/lab/faults.json"
FABRIC = "/usr/bin/nv-fabricmanager"
#: The check and the start of its message, the command that makes the lack, and the command that removes it.
LACKS: list[tuple[str, tuple[str, str]]] = [
    ("driver: kernel ", without_file("/usr/local/lib/lab/hardware/module")),
    ("driver: nvidia-smi is missing", without_file("/usr/bin/nvidia-smi")),
    ("fabric-manager: Fabric Manager is missing", without_file(FABRIC)),
    ("fabric-manager: Fabric Manager is 590", (f"cp -a {FABRIC} {AWAY}; sed -i 's/is : 580/is : 590/' {FABRIC}", without_file(FABRIC)[1])),
    ("fabric-manager: nvidia-fabricmanager does not start", disabled("nvidia-fabricmanager")),
    ("efa: kernel ", without_file("/usr/src/efa-3.0.0/dkms.conf")),
    ("efa: libfabric", without_file("/opt/amazon/efa/lib/libfabric.so.1")),
    ("ofi-nccl: the NCCL OFI plugin", without_file("/opt/amazon/ofi-nccl/lib/libnccl-net-ofi.so")),
    ("memlock: slurmd may lock 8388608", (f"mkdir -p {LIMITS}; printf '[Service]\\nLimitMEMLOCK=8388608\\n' > {LIMITS}/zz-lack.conf; systemctl daemon-reload", f"rm -r {LIMITS}; systemctl daemon-reload")),
    ("dcgm: DCGM is missing", without_file("/usr/bin/nv-hostengine")),
    ("containers: nvidia-ctk is missing", without_file("/usr/bin/nvidia-ctk")),
    ("slurm: slurmd is missing", without_file("/usr/sbin/slurmd")),
    ("units: landbridge-identity does not start", disabled("landbridge-identity")),
    ("units: landbridge-storage does not start", disabled("landbridge-storage")),
    ("units: landbridge-cloud-agent does not start", disabled("landbridge-cloud-agent")),
    ("units: landbridge-metadata does not start", disabled("landbridge-metadata")),
    ("files: /etc/landbridge/node.json", without_file("/etc/landbridge/node.json")),
    ("files: /etc/landbridge/agent.json", without_file("/etc/landbridge/agent.json")),
    ("health: /opt/landbridge/bin/landbridge-node-health", without_file("/opt/landbridge/bin/landbridge-node-health")),
    ("health: /opt/landbridge/lib/node_health/cloud.py", without_file("/opt/landbridge/lib/node_health/cloud.py")),
    ("health: landbridge-node-health.timer", disabled("landbridge-node-health.timer")),
    ("boto3: python3 cannot import boto3", without_file("/usr/lib/python3/dist-packages/boto3")),
    ("pool: /etc/landbridge/pool.json", without_file("/etc/landbridge/pool.json")),
    ("gpus: 7 of 8 GPUs answer", (f"mkdir -p /var/lib/lab; echo '{{\"absent\": [3]}}' > {FAULTS}", f"rm {FAULTS}")),
    ("gpus: /dev has no nvidia-uvm", without_file("/dev/nvidia-uvm")),
    ("gpus: Fabric Manager does not run", ("systemctl stop nvidia-fabricmanager", "systemctl start nvidia-fabricmanager")),
]  # fmt: skip


@pytest.fixture(scope="module")
def bursting(deployment: BringUp) -> Iterator[Bursting]:
    with scaled(deployment) as ready:
        yield ready


@pytest.fixture(scope="module")
def image(bursting: Bursting) -> Iterator[gpu_image.GpuImage]:
    baked = gpu_image.bake(bursting, AMI)
    with gpu_image.launch_templates(bursting, baked.environment, baked.ami):
        yield baked


@pytest.fixture(scope="module")
def trained(bursting: Bursting, image: gpu_image.GpuImage) -> int:
    """Return the number of a job that has trained on two nodes of the image. They stay: a later test uses them."""
    user = Researcher(bursting.deployment.cluster, bursting.deployment.environment, bursting.user)
    user.bring_example()
    number = user.train("gpu-nodes", ["--epochs", "2"], [f"--partition={POOL}", f"--nodelist={','.join(PAIR)}"])
    user.finish(number)
    assert "epoch 2/2" in user.output(number)
    return number


def on_node(bursting: Bursting, node: str, script: str, timeout: float = 120) -> str:
    """Run a script on a cloud node, and return its output and errors, whatever its status is."""
    (instance,) = (row["id"] for row in bursting.launched() if row["state"] == "running" and node_name(row) == node)
    completed = machines.exec(bursting.deployment.lab, instance, [script], timeout=timeout)
    return completed.stdout + completed.stderr


def node_name(instance: dict[str, Any]) -> str:
    """Return the node of an instance: the name at its launch index in the tag of its launch."""
    return hostlist.expand(instance["tags"]["landbridge:nodes"])[instance["launch_index"]]


def test_nodes_of_the_image_verify_themselves_and_train(
    bursting: Bursting, image: gpu_image.GpuImage, trained: int
) -> None:
    assert bursting.job(trained).nodes == PAIR
    ids = [row["id"] for row in bursting.launched(trained)]
    pages = clients(bursting.deployment, "ec2").describe_instances(InstanceIds=ids)["Reservations"]
    assert [row["ImageId"] for page in pages for row in page["Instances"]] == [image.ami] * 2


def test_nccl_uses_efa_between_them_and_the_rung_passes(bursting: Bursting, trained: int) -> None:
    deployment = bursting.deployment
    words = ["validate", "p5-[1-2]", *deployment.file, "--rung", "nccl-efa", "--mpi", "none", "--format", "json"]
    output = command(
        [program("landbridge"), *words, "--programs", gpu_image.PROGRAMS], env=deployment.variables(), cwd=ROOT
    )
    *listed, rung = json.loads(output[output.index("{") :])["rungs"]
    assert [(outcome["rung"], outcome["status"]) for outcome in listed] == [("programs", "passed")] * 2
    checks = {check["what"]: check for check in rung["checks"]}
    assert rung["status"] == "passed" and tuple(rung["nodes"]) == PAIR
    assert checks["provider"]["measured"] == "efa" and checks["ranks"]["measured"] == 16
    assert checks["busbw@8589934592"]["confidence"] == "measured"


def test_every_lack_is_named_and_keeps_the_node_out(bursting: Bursting, trained: int) -> None:
    """The daemon is stopped meanwhile: it would terminate the instance after the first lack."""
    node, unit = PAIR[0], "landbridge-node-verify.service"
    assert len(LACKS) >= 20
    bursting.running(bursting.submit("--nodes=1", f"--nodelist={node}", script="sleep 20"))
    bursting.on_controller("systemctl", "stop", SERVICE)
    try:
        # Slurm powers down no drained node.
        bursting.on_controller("scontrol", "update", f"nodename={node}", "state=drain", "reason=test")
        checks = on_node(bursting, node, f"{VERIFY} boot; journalctl -u {unit} -o cat")
        assert checks.count("checks, 0 errors") == 2, checks
        # A refused node stays on, for the next lack, and does not wait for devices.
        stay = 'sed -i \'s/"power_off": true/"power_off": false/\' /etc/landbridge/node-verify.json'
        wait = f"sed -i 's/--seconds [0-9]*/--seconds 0/' /etc/systemd/system/{unit}; systemctl daemon-reload"
        on_node(bursting, node, f"{stay}; {wait}; systemctl stop slurmd {unit}")
        for text, (make, mend) in LACKS:
            bursting.on_controller("scontrol", "update", f"nodename={node}", "state=down", "reason=none")
            script = (
                f"{make}; {VERIFY} boot; systemctl start slurmd 2>/dev/null || echo slurmd is refused;"
                f" systemctl is-active slurmd; {mend}; systemctl reset-failed {unit}"
            )
            output = on_node(bursting, node, script)
            assert f"error: {text}" in output, (text, output)
            assert "slurmd is refused" in output and "inactive" in output, (text, output)
            reason = bursting.nodes()[node]["reason"]
            assert reason.startswith("landbridge: image: ") and text in reason, (text, reason)
        repaired = on_node(bursting, node, f"systemctl start slurmd; systemctl is-active slurmd; {VERIFY} boot")
        assert repaired.startswith("active") and "0 errors" in repaired, repaired
    finally:
        bursting.on_controller("systemctl", "start", SERVICE)
    bursting.settle()


def test_a_launched_node_with_a_lack_takes_no_job_and_is_terminated(
    bursting: Bursting, image: gpu_image.GpuImage
) -> None:
    with (
        gpu_image.changed(bursting, image.ami, LACKING, "rm /usr/bin/nv-hostengine"),
        gpu_image.launch_templates(bursting, image.environment, LACKING),
    ):
        number = bursting.submit("--nodes=1", f"--nodelist={NODES[2]}", script="sleep 1")
        (first,) = bursting.wait_for("the launch", lambda: bursting.launched(number)[:1])
        bursting.wait_for(
            "EC2 to terminate the instance", lambda: bursting.alive(number), lambda alive: first["id"] not in alive
        )
        console = cloud_node.console(bursting.deployment.lab, first["id"]).decode(errors="replace")
        assert "landbridge: image: dcgm: DCGM is missing" in console
        assert bursting.job(number).state != "COMPLETED"
        bursting.settle()
